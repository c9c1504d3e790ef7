package org.rdma4j.nio;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Random;
import java.util.concurrent.TimeoutException;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.PeerProcess;

/** Sends checked bytes to each client and checks received ones, until it is killed. */
final class CheckedServer {
  /** The ways of a server: with the provider, or with that of the JDK. */
  enum Way {
    RDMA,
    TCP
  }

  private static final String LISTENING = "listening on port ";

  private CheckedServer() {}

  /** Takes the address, the port, which may be 0, and the way. */
  public static void main(String[] arguments) throws Exception {
    System.setProperty("org.rdma4j.nio.upgradeAfterBytes", "32");
    System.setProperty("org.rdma4j.nio.devices", "all");
    System.setProperty("org.rdma4j.nio.timeoutSeconds", "30");
    SelectorProvider provider =
        Way.valueOf(arguments[2]) == Way.RDMA
            ? new RdmaSelectorProvider()
            : SelectorProvider.provider();
    try (ServerSocketChannel listener = provider.openServerSocketChannel()) {
      listener.bind(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])));
      if (listener instanceof ListenerChannel) {
        // A client in a JVM that is warm would be refused.
        UpgradeTest.awaitListener(listener);
      }
      System.out.println(LISTENING + ((InetSocketAddress) listener.getLocalAddress()).getPort());
      while (true) {
        CheckedTraffic traffic = new CheckedTraffic(listener.accept(), new Random());
        Thread.ofVirtual().start(() -> closeAtEnd(traffic));
      }
    }
  }

  private static void closeAtEnd(CheckedTraffic traffic) {
    try (traffic) {
      traffic.awaitEnd(Long.MAX_VALUE);
    } catch (AssertionError wrong) {
      // The test sees that no process is there any more.
      System.out.println(wrong);
      Runtime.getRuntime().halt(1);
    } catch (IOException | InterruptedException | TimeoutException ended) {
      System.out.println("ended: " + ended);
    }
  }

  /** Starts it in the other guest of a pair. */
  static PeerProcess start(Way way, int port) throws Exception {
    return PeerProcess.start(
        JavaCommand.of(CheckedServer.class, PeerProcess.HOST, "" + port, way.name()));
  }

  static InetSocketAddress awaitAddress(PeerProcess server) {
    return new InetSocketAddress(PeerProcess.HOST, Integer.parseInt(server.awaitLine(LISTENING)));
  }
}
