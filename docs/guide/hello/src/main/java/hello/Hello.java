package hello;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.verbs.RdmaAvailability;
import org.rdma4j.verbs.RdmaDevice;

/** Without an argument: a server, which sends one message back. With its IP address: a client. */
public final class Hello {
  private static final int PORT = 7471;
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private Hello() {}

  public static void main(String[] args) throws Exception {
    RdmaAvailability rdma = RdmaDevice.availability();
    if (!rdma.isAvailable()) {
      System.err.println(rdma.explanation()); // what is missing, and what to do about it
      System.exit(1);
    }
    if (args.length == 0) {
      serve();
    } else {
      connect(args[0]);
    }
  }

  private static void serve() throws Exception {
    try (var server = RdmaServer.bind(new InetSocketAddress(PORT))) {
      System.out.println("waiting for a client");
      try (var peer = server.accept(Duration.ofMinutes(5))) {
        peer.send(peer.receive(TIMEOUT).orElseThrow(), TIMEOUT); // the buffer that it arrived in
      }
    }
  }

  private static void connect(String host) throws Exception {
    try (var connection = RdmaConnection.connect(new InetSocketAddress(host, PORT), TIMEOUT)) {
      connection.send(StandardCharsets.UTF_8.encode("Hello, RDMA"), TIMEOUT);
      try (var answer = connection.receive(TIMEOUT).orElseThrow()) {
        System.out.println(StandardCharsets.UTF_8.decode(answer.byteBuffer()));
      }
    }
  }
}
