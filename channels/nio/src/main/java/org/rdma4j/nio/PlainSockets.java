package org.rdma4j.nio;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.lang.reflect.Field;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/**
 * Upgrades {@link Socket} and {@link ServerSocket} to RDMA as channels are. A JVM has one factory
 * for each, which is set once.
 */
final class PlainSockets {
  /** Whether the factories are those of this class. Used by agents, one after the other. */
  private static boolean installed;

  private PlainSockets() {}

  /** Begins to exist with the first socket that may be upgraded, because it has a thread. */
  private static final class Dropped {
    private static final Cleaner CLEANER = Cleaner.create();

    private Dropped() {}
  }

  /**
   * Sets both factories, or none: the sockets that one makes are accepted by those of the other
   * only. If it cannot be done, sockets stay on TCP, and one log line has the reason. Does nothing
   * if they are set already, because the agent was named twice.
   *
   * @param tls whether there may be a server socket for TLS, which could not accept any more
   */
  static void install(boolean tls) {
    if (installed) {
      return;
    }
    if (tls) {
      staysWithTcp("a socket that listens with TLS was opened before: name this agent first");
      return;
    }
    try {
      if (isSet(Socket.class) || isSet(ServerSocket.class)) {
        staysWithTcp("the program has set a SocketImplFactory of its own");
        return;
      }
      // Finds out whether this JDK has the sockets that are known here.
      var unused = PlatformSocket.ofListener();
      set();
      installed = true;
    } catch (ReflectiveOperationException
        | IOException
        | RuntimeException
        | ExceptionInInitializerError failed) {
      Throwable cause = failed.getCause();
      staysWithTcp(String.valueOf(cause == null ? failed : cause));
    }
  }

  private static boolean isSet(Class<?> sockets) throws ReflectiveOperationException {
    Field factory = sockets.getDeclaredField("factory");
    factory.setAccessible(true);
    return factory.get(null) != null;
  }

  @SuppressWarnings("deprecation") // The JDK has no other way.
  private static void set() throws IOException {
    ServerSocket.setSocketFactory(PlainListener::new);
    Socket.setSocketImplFactory(() -> new PlainSocket(isDirect()));
  }

  /** Returns whether the socket that is being made must not use a proxy. */
  private static boolean isDirect() {
    // Only for Proxy.NO_PROXY does this constructor call the factory.
    return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
        .walk(
            frames ->
                frames
                    .filter(each -> each.getDeclaringClass() == Socket.class)
                    .findFirst()
                    .filter(each -> each.getDescriptor().equals("(Ljava/net/Proxy;)V"))
                    .isPresent());
  }

  private static void staysWithTcp(String why) {
    System.getLogger("org.rdma4j.nio")
        .log(Level.INFO, "java.net.Socket and ServerSocket stay on TCP: " + why);
  }

  /**
   * Returns where the sockets of this process are upgraded; null if the program has other channels.
   */
  static @Nullable Rendezvous rendezvous() {
    return SelectorProvider.provider() instanceof RdmaSelectorProvider ours
        ? ours.rendezvous()
        : null;
  }

  /**
   * Closes what a socket has if the program drops the socket without closing it, as the JDK does.
   *
   * @param close must not know the socket
   */
  static void closeIfDropped(Object socket, Runnable close) {
    var unused = Dropped.CLEANER.register(socket, close);
  }
}
