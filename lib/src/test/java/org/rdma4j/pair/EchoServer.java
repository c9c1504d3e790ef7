package org.rdma4j.pair;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;

/** Sends each message back, on any number of connections, until it is killed. */
public final class EchoServer {
  public static final String LISTENING = "listening on port ";
  private static final Duration LONG = Duration.ofHours(1);

  private EchoServer() {}

  /** Listens on the address in the first argument. */
  public static void main(String... args) throws InterruptedException {
    try (RdmaServer server = RdmaServer.bind(new InetSocketAddress(args[0], 0))) {
      System.out.println(LISTENING + server.localAddress().getPort());
      while (true) {
        RdmaConnection connection = server.accept();
        Thread.ofVirtual().start(() -> echo(connection));
      }
    }
  }

  private static void echo(RdmaConnection connection) {
    try (connection) {
      Optional<MessageBuffer> message = connection.receive(LONG);
      while (message.isPresent()) {
        connection.send(message.get(), LONG);
        message = connection.receive(LONG);
      }
    } catch (RdmaException | InterruptedException | TimeoutException broken) {
      System.out.println(broken);
    }
  }
}
