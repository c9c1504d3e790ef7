package org.rdma4j.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.rdma4j.nio.SocketChecks.Waiting;

/** What sockets that listen or connect do, each as a text. */
final class ListenerChecks {
  private ListenerChecks() {}

  static Map<String, Callable<?>> all() {
    Map<String, Callable<?>> checks = new LinkedHashMap<>();
    checks.put("accept timeout", ListenerChecks::acceptTimeout);
    checks.put("close ends an accept", ListenerChecks::closeEndsAccept);
    checks.put("interrupt of an accept", ListenerChecks::interrupt);
    checks.put("interrupt of an accept in a virtual thread", ListenerChecks::interruptVirtual);
    checks.put("a listener of a subclass", ListenerChecks::subclass);
    checks.put("options of a listener", ListenerChecks::options);
    checks.put("an address in use", ListenerChecks::inUse);
    checks.put("a connection that is refused", ListenerChecks::refused);
    checks.put("an unknown host", ListenerChecks::unknownHost);
    checks.put("a socket that is not connected", ListenerChecks::unconnected);
    checks.put("a bound socket connects", ListenerChecks::bound);
    checks.put("without a proxy", ListenerChecks::withoutProxy);
    checks.put("a SOCKS proxy of the system", ListenerChecks::socksProxy);
    checks.put("a SOCKS proxy of the program", ListenerChecks::ownSocksProxy);
    return checks;
  }

  private static ServerSocket listener() throws IOException {
    return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  private static Object acceptTimeout() throws Exception {
    try (ServerSocket listener = listener()) {
      listener.setSoTimeout(50);
      return SocketChecks.outcome(listener::accept) + listener.isClosed() + listener.getSoTimeout();
    }
  }

  private static Object closeEndsAccept() throws Exception {
    ServerSocket listener = listener();
    Waiting waiting = Waiting.in(listener::accept);
    listener.close();
    return waiting.get() + ", " + SocketChecks.outcome(listener::accept);
  }

  private static Object interrupt() throws Exception {
    try (ServerSocket listener = listener()) {
      Waiting waiting =
          Waiting.in(() -> listener.accept().isConnected() + "" + Thread.interrupted());
      waiting.thread().interrupt();
      Thread.sleep(100);
      boolean waits = !waiting.task().isDone();
      new Socket(listener.getInetAddress(), listener.getLocalPort()).close();
      return waits + waiting.get();
    }
  }

  private static Object interruptVirtual() throws Exception {
    try (ServerSocket listener = listener()) {
      Waiting waiting = Waiting.in(Thread.ofVirtual(), listener::accept);
      waiting.thread().interrupt();
      return waiting.get() + listener.isClosed();
    }
  }

  /** Accepts with sockets that it has made, and used, before. */
  private static final class OwnListener extends ServerSocket {
    OwnListener() throws IOException {
      super(0, 50, InetAddress.getLoopbackAddress());
    }

    @Override
    public Socket accept() throws IOException {
      Socket socket = new Socket();
      socket.setSoTimeout(70);
      implAccept(socket);
      return socket;
    }
  }

  private static Object subclass() throws Exception {
    try (OwnListener listener = new OwnListener();
        Socket client = new Socket(listener.getInetAddress(), listener.getLocalPort());
        Socket server = listener.accept()) {
      client.getOutputStream().write(9);
      return server.getInputStream().read()
          + " "
          + server.getSoTimeout()
          + SocketChecks.outcome(() -> server.getInputStream().read())
          + server.getRemoteSocketAddress().equals(client.getLocalSocketAddress());
    }
  }

  private static Object options() throws Exception {
    try (ServerSocket listener = new ServerSocket()) {
      listener.setReuseAddress(true);
      listener.setReceiveBufferSize(40_000);
      listener.setOption(StandardSocketOptions.SO_REUSEPORT, true);
      return listener.getReuseAddress()
          + " "
          + listener.getReceiveBufferSize()
          + " "
          + listener.getOption(StandardSocketOptions.SO_REUSEPORT)
          + listener
          + listener.isBound()
          + listener.supportedOptions().stream().map(Object::toString).sorted().toList();
    }
  }

  private static Object inUse() throws Exception {
    try (ServerSocket listener = listener()) {
      return SocketChecks.outcome(
          () -> new ServerSocket(listener.getLocalPort(), 1, listener.getInetAddress()));
    }
  }

  private static Object refused() throws Exception {
    int port;
    try (ServerSocket listener = listener()) {
      port = listener.getLocalPort();
    }
    try (Socket socket = new Socket()) {
      InetSocketAddress unused = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
      return SocketChecks.outcome(
              () -> {
                socket.connect(unused, 5000);
                return "connected";
              })
          + socket.isClosed();
    }
  }

  private static Object unknownHost() throws Exception {
    try (Socket socket = new Socket()) {
      InetSocketAddress nowhere = InetSocketAddress.createUnresolved("nowhere.invalid", 1);
      return SocketChecks.outcome(
              () -> {
                socket.connect(nowhere);
                return "connected";
              })
          + socket.isClosed();
    }
  }

  private static Object unconnected() throws Exception {
    try (Socket socket = new Socket()) {
      return SocketChecks.outcome(socket::getInputStream)
          + socket
          + socket.getLocalAddress()
          + socket.getPort()
          + socket.getLocalPort()
          + socket.getRemoteSocketAddress();
    }
  }

  private static Object bound() throws Exception {
    try (ServerSocket listener = listener();
        Socket socket = new Socket()) {
      socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      int port = socket.getLocalPort();
      socket.connect(listener.getLocalSocketAddress());
      try (Socket accepted = listener.accept()) {
        return accepted.getPort() == port;
      }
    }
  }

  private static Object withoutProxy() throws Exception {
    try (ServerSocket listener = listener();
        Socket socket = new Socket(Proxy.NO_PROXY)) {
      socket.connect(listener.getLocalSocketAddress());
      return socket.isConnected();
    }
  }

  /** Answers as a SOCKS proxy does, and then as the peer would. */
  private static Object serve(ServerSocket proxy) throws IOException {
    try (Socket socket = proxy.accept()) {
      var input = socket.getInputStream();
      var output = socket.getOutputStream();
      int version = input.read();
      input.readNBytes(input.read());
      output.write(new byte[] {5, 0});
      byte[] request = input.readNBytes(10);
      output.write(new byte[] {5, 0, 0, 1, 127, 0, 0, 1, 0, 7});
      output.write(input.readNBytes(5));
      return version + " " + request[1] + " " + (request[4] & 0xff) + "." + request[7];
    }
  }

  private static Object throughProxy(ServerSocket proxy, Socket socket) throws Exception {
    Waiting serving = Waiting.in(() -> serve(proxy));
    InetSocketAddress far = new InetSocketAddress("192.0.2.77", 4711);
    socket.connect(far, 5000);
    socket.getOutputStream().write("hello".getBytes(StandardCharsets.UTF_8));
    String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return answer + " " + socket.getRemoteSocketAddress() + " " + serving.get();
  }

  private static Object socksProxy() throws Exception {
    try (ServerSocket proxy = listener()) {
      System.setProperty("socksProxyHost", "127.0.0.1");
      System.setProperty("socksProxyPort", "" + proxy.getLocalPort());
      try (Socket socket = new Socket()) {
        return throughProxy(proxy, socket);
      } finally {
        System.clearProperty("socksProxyHost");
        System.clearProperty("socksProxyPort");
      }
    }
  }

  private static Object ownSocksProxy() throws Exception {
    try (ServerSocket proxy = listener();
        Socket socket = new Socket(new Proxy(Proxy.Type.SOCKS, proxy.getLocalSocketAddress()))) {
      return throughProxy(proxy, socket);
    }
  }
}
