package org.rdma4j.samples.first;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.verbs.RdmaDevice;

/**
 * A client sends messages to a server, which sends them back. A connection looks after memory,
 * queue pair, completions and flow control, and leaves messages to the program.
 *
 * <p>Start the server without an argument, then the client with the server's IP address. It must be
 * an address of an RDMA device's network interface, so 127.0.0.1 does not work.
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp samples/target/rdma4j-samples.jar \
 *   org.rdma4j.samples.first.ConnectionEcho [HOST]
 * </pre>
 */
public final class ConnectionEcho {
  private static final int PORT = 18603; // of the connection manager: TCP has ports of its own
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final Duration CLIENT_TIMEOUT = Duration.ofMinutes(5);

  public static void main(String[] args) throws InterruptedException, TimeoutException {
    try {
      if (RdmaDevice.list().isEmpty()) {
        throw new IllegalArgumentException("This machine has no RDMA device: run doctor.");
      }
      if (args.length == 0) {
        serve();
      } else {
        connect(new InetSocketAddress(args[0], PORT));
      }
    } catch (RdmaException | IllegalArgumentException failure) {
      System.err.println("ConnectionEcho: " + failure.getMessage());
      System.exit(1);
    }
  }

  private static void serve() throws InterruptedException, TimeoutException {
    try (RdmaServer server = RdmaServer.bind(new InetSocketAddress(PORT))) {
      System.out.println("waiting for a client on port " + PORT);
      // If no client comes in time, this throws a TimeoutException. server.accept() waits forever.
      try (RdmaConnection client = server.accept(CLIENT_TIMEOUT)) {
        // A received message is where the device has written it, in registered memory. The
        // Optional is empty once the client has closed the connection.
        Optional<MessageBuffer> message = client.receive(TIMEOUT);
        while (message.isPresent()) {
          System.out.println("echoing " + message.get().byteBuffer().remaining() + " bytes");
          // Sending hands the buffer over, so nothing is copied, and nothing is left to close. It
          // waits as long as the peer has no room for another message.
          client.send(message.get(), TIMEOUT);
          message = client.receive(TIMEOUT);
        }
      }
    }
  }

  private static void connect(InetSocketAddress address)
      throws InterruptedException, TimeoutException {
    try (RdmaConnection server = RdmaConnection.connect(address, TIMEOUT)) {
      for (String text : List.of("one", "two", "three")) {
        // This send copies the bytes. RdmaConnection.buffer gives a buffer in registered memory,
        // to write to and to send without a copy.
        server.send(UTF_8.encode(text), TIMEOUT);
        // Closing a received message gives its buffer back, for another message.
        try (MessageBuffer echo = server.receive(TIMEOUT).orElseThrow()) {
          String received = UTF_8.decode(echo.byteBuffer()).toString();
          System.out.println("echo: " + received);
          if (!received.equals(text)) {
            throw new IllegalStateException("sent: " + text + ", but received: " + received);
          }
        }
      }
    }
  }
}
