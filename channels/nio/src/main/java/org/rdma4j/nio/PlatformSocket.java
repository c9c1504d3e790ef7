package org.rdma4j.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A socket of the JDK, as {@link java.net.Socket} and {@link java.net.ServerSocket} have one if no
 * program sets a factory. The JDK gives no access to it, so the package {@code java.net} must be
 * open to this module.
 */
final class PlatformSocket {
  private static final Method PLATFORM = method("createPlatformSocketImpl", boolean.class);
  private static final Constructor<? extends SocketImpl> SOCKS = socks();
  private static final Method CREATE = method("create", boolean.class);
  private static final Method CONNECT = method("connect", SocketAddress.class, int.class);
  private static final Method BIND = method("bind", InetAddress.class, int.class);
  private static final Method LISTEN = method("listen", int.class);
  private static final Method ACCEPT = method("accept", SocketImpl.class);
  private static final Method INPUT = method("getInputStream");
  private static final Method OUTPUT = method("getOutputStream");
  private static final Method AVAILABLE = method("available");
  private static final Method SHUTDOWN_INPUT = method("shutdownInput");
  private static final Method SHUTDOWN_OUTPUT = method("shutdownOutput");
  private static final Method CLOSE = method("close");
  private static final Method ADDRESS = method("getInetAddress");
  private static final Method PORT = method("getPort");
  private static final Method LOCAL_PORT = method("getLocalPort");
  private static final Method SEND_URGENT = method("sendUrgentData", int.class);
  private static final Method OPTIONS = method("supportedOptions");
  private static final Method GET = method("getOption", SocketOption.class);
  private static final Method SET = method("setOption", SocketOption.class, Object.class);

  /** What the program calls. */
  private final SocketImpl socket;

  /** What has the connection: the same, or what it delegates to. */
  private final SocketImpl tcp;

  private PlatformSocket(SocketImpl socket, SocketImpl tcp) {
    this.socket = socket;
    this.tcp = tcp;
  }

  private static Method method(String name, Class<?>... parameters) {
    try {
      Method method = SocketImpl.class.getDeclaredMethod(name, parameters);
      method.setAccessible(true);
      return method;
    } catch (NoSuchMethodException otherVersion) {
      throw new IllegalStateException("this JDK has another java.net.SocketImpl", otherVersion);
    }
  }

  private static Constructor<? extends SocketImpl> socks() {
    try {
      Constructor<? extends SocketImpl> constructor =
          Class.forName("java.net.SocksSocketImpl")
              .asSubclass(SocketImpl.class)
              .getDeclaredConstructor(SocketImpl.class);
      constructor.setAccessible(true);
      return constructor;
    } catch (ReflectiveOperationException otherVersion) {
      throw new IllegalStateException("this JDK has another SocksSocketImpl", otherVersion);
    }
  }

  // ---- Creation

  /** Returns a socket that connects, over a SOCKS proxy if the JDK is configured to use one. */
  static PlatformSocket ofClient() {
    SocketImpl tcp = platform(false);
    try {
      return new PlatformSocket(SOCKS.newInstance(tcp), tcp);
    } catch (ReflectiveOperationException failed) {
      throw new IllegalStateException("the JDK creates no socket", failed);
    }
  }

  /** Returns a socket that connects, and never over a proxy. */
  static PlatformSocket withoutProxy() {
    SocketImpl tcp = platform(false);
    return new PlatformSocket(tcp, tcp);
  }

  static PlatformSocket ofListener() {
    SocketImpl tcp = platform(true);
    return new PlatformSocket(tcp, tcp);
  }

  private static SocketImpl platform(boolean listens) {
    try {
      return Objects.requireNonNull((SocketImpl) PLATFORM.invoke(null, listens));
    } catch (ReflectiveOperationException failed) {
      throw new IllegalStateException("the JDK creates no socket", failed);
    }
  }

  private Object call(Method method, Object... arguments) throws IOException {
    return call(socket, method, arguments);
  }

  /** The answer of a method that returns nothing must not be used. */
  @SuppressWarnings("NullAway") // Only a method that returns nothing answers null.
  private static Object call(SocketImpl socket, Method method, Object... arguments)
      throws IOException {
    try {
      return method.invoke(socket, arguments);
    } catch (InvocationTargetException failed) {
      switch (failed.getCause()) {
        case IOException cause -> throw cause;
        case RuntimeException cause -> throw cause;
        case Error cause -> throw cause;
        default -> throw new IOException(failed);
      }
    } catch (IllegalAccessException closed) {
      throw new IllegalStateException("java.net is not open any more", closed);
    }
  }

  // ---- Connecting

  void create(boolean stream) throws IOException {
    var unused = call(CREATE, stream);
  }

  void connect(SocketAddress address, int timeout) throws IOException {
    var unused = call(CONNECT, address, timeout);
  }

  void bind(InetAddress address, int port) throws IOException {
    var unused = call(BIND, address, port);
  }

  void listen(int backlog) throws IOException {
    var unused = call(LISTEN, backlog);
  }

  /** Waits for a connection. */
  PlatformSocket accept() throws IOException {
    SocketImpl accepted = platform(false);
    var unused = call(ACCEPT, accepted);
    return new PlatformSocket(accepted, accepted);
  }

  /** Returns whether a proxy carries the connection, so that TCP has another peer. */
  boolean isProxied() throws IOException {
    return !remote(socket).equals(remote(tcp));
  }

  InetSocketAddress remote() throws IOException {
    return remote(socket);
  }

  private static InetSocketAddress remote(SocketImpl socket) throws IOException {
    return new InetSocketAddress((InetAddress) call(socket, ADDRESS), (int) call(socket, PORT));
  }

  InetSocketAddress local() throws IOException {
    return new InetSocketAddress(
        (InetAddress) socket.getOption(SocketOptions.SO_BINDADDR), (int) call(LOCAL_PORT));
  }

  /** Returns the address of the peer, or the address that it is bound to; null if there is none. */
  @Nullable InetAddress address() {
    return (InetAddress) field(ADDRESS);
  }

  int port() {
    return (int) field(PORT);
  }

  int localPort() {
    return (int) field(LOCAL_PORT);
  }

  private Object field(Method method) {
    try {
      return call(method);
    } catch (IOException neverThrown) {
      throw new IllegalStateException(neverThrown);
    }
  }

  // ---- Reading and writing

  InputStream input() throws IOException {
    return (InputStream) call(INPUT);
  }

  OutputStream output() throws IOException {
    return (OutputStream) call(OUTPUT);
  }

  int available() throws IOException {
    return (int) call(AVAILABLE);
  }

  void sendUrgentData(int data) throws IOException {
    var unused = call(SEND_URGENT, data);
  }

  // ---- The end

  void shutdownInput() throws IOException {
    var unused = call(SHUTDOWN_INPUT);
  }

  void shutdownOutput() throws IOException {
    var unused = call(SHUTDOWN_OUTPUT);
  }

  void close() throws IOException {
    var unused = call(CLOSE);
  }

  // ---- Options

  void setOption(int option, Object value) throws SocketException {
    socket.setOption(option, value);
  }

  Object getOption(int option) throws SocketException {
    return socket.getOption(option);
  }

  <T> void setOption(SocketOption<T> option, T value) throws IOException {
    var unused = call(SET, option, value);
  }

  @SuppressWarnings("unchecked") // The type is that of the option.
  <T> T getOption(SocketOption<T> option) throws IOException {
    return (T) call(GET, option);
  }

  @SuppressWarnings("unchecked")
  Set<SocketOption<?>> supportedOptions() {
    return (Set<SocketOption<?>>) field(OPTIONS);
  }

  @Override
  public String toString() {
    return socket.toString();
  }
}
