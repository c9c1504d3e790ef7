package org.rdma4j.bench.connections;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Locale;
import org.rdma4j.connection.DrivenNode;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.OperationHandler;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;

/**
 * One of two processes that send a message back and forth over driven nodes, each of which its
 * thread polls without a pause. They are new processes for each measurement, as those of {@code
 * rc-pingpong} are: which other processes run beside two that poll decides how often these lose
 * their processors.
 */
public final class DrivenEcho {
  /** How long a message may take there and back. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private static final OperationHandler IGNORE = (token, failure) -> {};

  private DrivenEcho() {}

  /**
   * Serves one client, or is the client and prints the time for one message there and back.
   *
   * @param arguments {@code server} or {@code client}, the address of the server, its port, and for
   *     the client the length of the messages in bytes, the number of messages of the warm-up and
   *     that of those that are measured
   */
  public static void main(String[] arguments) throws Exception {
    InetAddress host = InetAddress.ofLiteral(arguments[1]);
    InetSocketAddress address = new InetSocketAddress(host, Integer.parseInt(arguments[2]));
    if (arguments[0].equals("server")) {
      serve(address);
    } else {
      int bytes = Integer.parseInt(arguments[3]);
      measure(address, bytes, Long.parseLong(arguments[4]), Long.parseLong(arguments[5]));
    }
  }

  /** Serves until the client says over a TCP connection that it is done, or ends. */
  private static void serve(InetSocketAddress address) throws IOException {
    try (DrivenNode driven = DrivenNode.open();
        RdmaServer server = driven.node().bind(address);
        ServerSocket listener = new ServerSocket(address.getPort())) {
      server.onAccept(DrivenEcho::sendBack);
      Thread.ofPlatform().daemon().start(() -> pollForever(driven));
      try (Socket client = listener.accept()) {
        var unused = client.getInputStream().read();
      }
    }
  }

  private static void sendBack(RdmaConnection connection) {
    connection.onMessage(message -> connection.sendAsync(message, 0, IGNORE));
    var unused = connection.ended().whenComplete((nothing, failure) -> connection.close());
  }

  private static void pollForever(DrivenNode driven) {
    try {
      while (true) {
        if (driven.poll() == 0) {
          Thread.onSpinWait();
        }
      }
    } catch (IllegalStateException closed) {
      // The client has ended, so the node was closed.
    }
  }

  private static void measure(InetSocketAddress address, int bytes, long warmUp, long count)
      throws Exception {
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), address.getPort());
        DrivenNode driven = DrivenNode.open();
        RdmaConnection connection = driven.node().connect(address)) {
      long[] back = {0};
      connection.onMessage(
          message -> {
            message.close();
            back[0]++;
          });
      exchange(driven, connection, bytes, back, warmUp);
      long begin = System.nanoTime();
      exchange(driven, connection, bytes, back, warmUp + count);
      double micros = (System.nanoTime() - begin) / 1e3 / count;
      System.out.printf(Locale.ROOT, "%d iters = %.2f usec/iter%n", count, micros);
      client.getOutputStream().write(0);
    }
  }

  /** Sends messages one after the other until so many have come back. */
  private static void exchange(
      DrivenNode driven, RdmaConnection connection, int bytes, long[] back, long until) {
    while (back[0] < until) {
      long before = back[0];
      MessageBuffer message = connection.allocateBuffer(bytes);
      if (!connection.trySend(message)) {
        throw new IllegalStateException("the peer has no room for one message");
      }
      long sent = System.nanoTime();
      while (back[0] == before) {
        if (driven.poll() > 0) {
          continue;
        }
        if (System.nanoTime() - sent > PATIENCE.toNanos()) {
          throw new IllegalStateException(
              "message %d did not come back within %s: %s"
                  .formatted(before, PATIENCE, connection.statistics()));
        }
        Thread.onSpinWait();
      }
    }
  }
}
