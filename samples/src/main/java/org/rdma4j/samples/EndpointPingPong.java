package org.rdma4j.samples;

import java.lang.foreign.MemorySegment;
import java.util.Locale;
import org.rdma4j.endpoint.Completion;
import org.rdma4j.endpoint.Endpoint;
import org.rdma4j.endpoint.EndpointConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The first program to write with this library. */
@Command(
    description = {
      "Sends a message back and forth between two endpoints, which choose device, port and GID by"
          + " themselves. Without a server name it is the server, which is to be started first; both"
          + " sides take the same -p, -s and -n."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class EndpointPingPong implements Runnable {
  private static final int LONGEST = 1 << 28;
  private static final long PING = 1;
  private static final long PONG = 2;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  EndpointOptions options;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "the length of a message (default: ${DEFAULT-VALUE})")
  int size = 64;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "COUNT",
      description = "how many exchanges there are (default: ${DEFAULT-VALUE})")
  int iterations = 1000;

  @Override
  public void run() {
    options.check();
    options.checkRange("-s", size, 1, LONGEST);
    options.checkRange("-n", iterations, 1, Integer.MAX_VALUE);
    // The message to send, and room for the one to receive behind it.
    try (Endpoint endpoint = options.open(EndpointConfig.DEFAULT.bufferBytes(2L * size))) {
      // Before the peer can know that there is anybody to send to.
      endpoint.postReceive(PONG, size, size);
      long began = System.nanoTime();
      for (int i = 0; i < iterations; i++) {
        if (options.peer.server == null) {
          receive(endpoint, i);
          answer(endpoint);
        } else {
          send(endpoint, i);
          receive(endpoint, i);
        }
      }
      double micros = (System.nanoTime() - began) / 1e3;
      options
          .spec
          .commandLine()
          .getOut()
          .printf(
              Locale.ROOT,
              "%d iters of %d bytes in %.2f seconds = %.2f usec/iter%n",
              iterations,
              size,
              micros / 1e6,
              micros / iterations);
    }
  }

  private void send(Endpoint endpoint, int iteration) {
    endpoint.buffer().segment().asSlice(0, size).fill((byte) iteration);
    endpoint.postSend(PING, 0, size);
    options.await(endpoint, PING, "the send of message " + iteration);
  }

  private void answer(Endpoint endpoint) {
    endpoint.postSend(PING, 0, size);
    options.await(endpoint, PING, "the answer");
  }

  private void receive(Endpoint endpoint, int iteration) {
    Completion received = options.await(endpoint, PONG, "the receive of message " + iteration);
    if (received.bytes() != size) {
      throw new Failure(
          "message %d has %d bytes, not %d: give both sides the same -s"
              .formatted(iteration, received.bytes(), size));
    }
    MemorySegment buffer = endpoint.buffer().segment();
    if (options.peer.server == null) {
      MemorySegment.copy(buffer, size, buffer, 0, size);
    } else if (buffer.asSlice(size, size).mismatch(buffer.asSlice(0, size)) >= 0) {
      throw new Failure("message %d came back with other content".formatted(iteration));
    }
    if (iteration + 1 < iterations) {
      endpoint.postReceive(PONG, size, size);
    }
  }
}
