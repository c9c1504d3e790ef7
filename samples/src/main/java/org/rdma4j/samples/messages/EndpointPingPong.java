package org.rdma4j.samples.messages;

import java.lang.foreign.MemorySegment;
import java.util.Locale;
import org.rdma4j.endpoint.Completion;
import org.rdma4j.endpoint.Endpoint;
import org.rdma4j.endpoint.EndpointConfig;
import org.rdma4j.samples.command.Failure;
import org.rdma4j.samples.command.Version;
import org.rdma4j.verbs.AccessFlag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Sends a message back and forth between two endpoints: the shortest of the ping-pongs. */
@Command(
    description = {
      "Sends a message back and forth between two endpoints, which choose device, port and GID"
          + " themselves.",
      "Without a server name this program is the server, which must be started first. Both sides"
          + " need the same -p, -s and -n."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class EndpointPingPong implements Runnable {
  private static final int MAX_BYTES = 1 << 28;
  private static final long PING = 1;
  private static final long PONG = 2;

  @Mixin final EndpointOptions options = new EndpointOptions();

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "the length of a message (default: ${DEFAULT-VALUE})")
  int size = 64;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "COUNT",
      description = "the number of exchanges (default: ${DEFAULT-VALUE})")
  int iterations = 1000;

  @Override
  public void run() {
    options.check();
    options.checkRange("-s", size, 1, MAX_BYTES);
    options.checkRange("-n", iterations, 1, Integer.MAX_VALUE);
    // The first half of the buffer holds the message to send, the second half the received one.
    EndpointConfig config =
        EndpointConfig.DEFAULT.bufferBytes(2L * size).remoteAccess(AccessFlag.REMOTE_WRITE);
    try (Endpoint endpoint = options.open(config)) {
      // Before the first send, so that the answer always finds a posted receive.
      endpoint.postReceive(PONG, size, size);
      EndpointWaits waits = new EndpointWaits(endpoint, options.peer.timeout());
      long began = System.nanoTime();
      for (int i = 0; i < iterations; i++) {
        if (options.peer.isServer()) {
          receive(endpoint, waits, i);
          answer(endpoint, waits);
        } else {
          send(endpoint, waits, i);
          receive(endpoint, waits, i);
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

  private void send(Endpoint endpoint, EndpointWaits waits, int iteration) {
    endpoint.buffer().segment().asSlice(0, size).fill((byte) iteration);
    endpoint.postSend(PING, 0, size);
    waits.await(PING, "the send of message " + iteration);
  }

  private void answer(Endpoint endpoint, EndpointWaits waits) {
    endpoint.postSend(PING, 0, size);
    waits.await(PING, "the answer");
  }

  private void receive(Endpoint endpoint, EndpointWaits waits, int iteration) {
    Completion received = waits.awaitMessage(PONG, "the receive of message " + iteration);
    if (received.bytes() != size) {
      throw new Failure(
          "message %d has %d bytes instead of %d; give both sides the same -s"
              .formatted(iteration, received.bytes(), size));
    }
    MemorySegment buffer = endpoint.buffer().segment();
    if (options.peer.isServer()) {
      MemorySegment.copy(buffer, size, buffer, 0, size);
    } else if (buffer.asSlice(size, size).mismatch(buffer.asSlice(0, size)) >= 0) {
      throw new Failure("message %d came back with other content".formatted(iteration));
    }
    if (iteration + 1 < iterations) {
      endpoint.postReceive(PONG, size, size);
    }
  }
}
