package org.rdma4j.samples.endpoint;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.RdmaDevice;

/**
 * Two processes send a message back and forth between two endpoints, and measure how long that
 * takes. Start the server without an argument, then the client with the server's host. It needs a
 * device of InfiniBand or RoCE.
 *
 * <pre>
 * java -jar samples/target/rdma4j-samples.jar endpoint-pingpong [HOST [DEVICE]]
 * </pre>
 */
public final class EndpointPingPong {
  private static final int TCP_PORT = 18604;
  private static final int BYTES = 64;
  private static final int ROUND_TRIPS = 1000;
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final Duration PEER_TIMEOUT = Duration.ofMinutes(5);

  // Requests have ids that the program chooses.
  private static final long SEND = 1;
  private static final long RECEIVE = 2;

  public static void main(String[] args) {
    boolean client = args.length > 0;
    // The first half of the buffer has the message to send, the second half gets the peer's.
    MemorySegment buffer = Arena.ofAuto().allocate(2 * BYTES, 64);
    try (Endpoint endpoint =
        new Endpoint(args.length > 1 ? args[1] : firstDevice(), buffer, 1, 1)) {
      if (client) {
        endpoint.connectToPeer(args[0], TCP_PORT, TIMEOUT);
      } else {
        System.out.println("waiting for a client on TCP port " + TCP_PORT);
        endpoint.acceptPeer(TCP_PORT, PEER_TIMEOUT);
      }
      // A receive must be posted before the message comes, or the peer has to wait. So each side
      // posts the receive for the next message before it sends its own.
      endpoint.postReceive(RECEIVE, BYTES, BYTES);
      long start = System.nanoTime();
      for (int round = 0; round < ROUND_TRIPS; round++) {
        if (client) {
          buffer.set(ValueLayout.JAVA_INT, 0, round);
          send(endpoint);
        }
        // The completion of this side's send may come first, or later. The endpoint keeps it.
        endpoint.pollCompletion(RECEIVE, TIMEOUT);
        int received = buffer.get(ValueLayout.JAVA_INT, BYTES);
        if (received != round) {
          throw new IllegalStateException("message " + round + " says " + received);
        }
        if (round + 1 < ROUND_TRIPS) {
          endpoint.postReceive(RECEIVE, BYTES, BYTES);
        }
        if (!client) {
          buffer.set(ValueLayout.JAVA_INT, 0, received);
          send(endpoint);
        }
      }
      double micros = (System.nanoTime() - start) / 1e3 / ROUND_TRIPS;
      System.out.printf("%d round trips of %d bytes, %.1f us each%n", ROUND_TRIPS, BYTES, micros);
    } catch (RdmaException | IllegalArgumentException | IOException | TimeoutException failure) {
      System.err.println("EndpointPingPong: " + failure.getMessage());
      System.exit(1);
    }
  }

  private static void send(Endpoint endpoint) throws TimeoutException {
    endpoint.postSend(SEND, 0, BYTES);
    endpoint.pollCompletion(SEND, TIMEOUT); // Only now may the memory of the message change.
  }

  private static String firstDevice() {
    return RdmaDevice.list().stream()
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("This machine has no RDMA device: run doctor."))
        .name();
  }
}
