package org.rdma4j.tools.pingpong;

import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.MessageBuffer;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;
import org.rdma4j.tools.command.CommonOptions;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Sends a message back and forth over a connection that carries messages. */
@Command(
    description = {
      "Sends a message back and forth over a connection that carries messages.",
      "Without a server name this program is the server, which must be started first."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
public final class ConnectionPingPong implements Callable<Integer> {
  private static final int MAX_BYTES = 1 << 24;
  private static final int MIN_BUFFER_BYTES = 64;

  @Mixin final CommonOptions common = new CommonOptions();

  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "the server's name or address; without it, this program is the server")
  @Nullable String server;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      description = "the server's port (default: ${DEFAULT-VALUE})")
  int port = 7471;

  @Option(
      names = "-s",
      paramLabel = "BYTES",
      description =
          "the length of a message; on the server, the maximum length (default:"
              + " ${DEFAULT-VALUE})")
  int size = 64;

  @Option(
      names = "-n",
      paramLabel = "COUNT",
      description = "the number of exchanges to measure (default: ${DEFAULT-VALUE}; client only)")
  int iterations = 1000;

  @Option(
      names = "--warmup",
      paramLabel = "COUNT",
      description =
          "the number of exchanges before the measured ones (default: ${DEFAULT-VALUE};"
              + " client only)")
  int warmup;

  @Override
  public Integer call() throws InterruptedException {
    common.check();
    common.checkRange("-p", port, 1, 65535);
    common.checkRange("-s", size, 1, MAX_BYTES);
    common.checkRange("-n", iterations, 1, Integer.MAX_VALUE);
    common.checkRange("--warmup", warmup, 0, Integer.MAX_VALUE);
    // Messages of this length go into buffers that the peer has posted.
    NodeConfig config = NodeConfig.DEFAULT.bufferBytes(Math.max(size, MIN_BUFFER_BYTES));
    try (RdmaNode node = RdmaNode.open(config)) {
      if (server == null) {
        answer(node);
      } else {
        ask(server, node);
      }
    } catch (TimeoutException late) {
      throw common.late("a message");
    }
    return 0;
  }

  private void answer(RdmaNode node) throws InterruptedException, TimeoutException {
    try (RdmaServer listener = node.bind(CommonOptions.address(null, port));
        RdmaConnection client = accept(listener)) {
      Optional<MessageBuffer> message = client.receive(common.timeout());
      while (message.isPresent()) {
        client.send(message.get(), common.timeout());
        message = client.receive(common.timeout());
      }
    }
  }

  private RdmaConnection accept(RdmaServer listener) throws InterruptedException {
    try {
      return listener.accept(common.timeout());
    } catch (TimeoutException late) {
      throw common.noClient();
    }
  }

  private void ask(String host, RdmaNode node) throws InterruptedException, TimeoutException {
    try (RdmaConnection peer = node.connect(CommonOptions.address(host, port), common.timeout())) {
      for (int i = 0; i < warmup; i++) {
        exchange(peer, i);
      }
      long began = System.nanoTime();
      for (int i = 0; i < iterations; i++) {
        exchange(peer, i);
      }
      double micros = (System.nanoTime() - began) / 1e3;
      common
          .out()
          .printf(
              Locale.ROOT,
              "%d iters of %d bytes in %.2f seconds = %.2f usec/iter%n",
              iterations,
              size,
              micros / 1e6,
              micros / iterations);
    }
  }

  private void exchange(RdmaConnection peer, int number)
      throws InterruptedException, TimeoutException {
    MessageBuffer message = peer.buffer(common.timeout());
    ByteBuffer bytes = message.byteBuffer();
    bytes.limit(size).put(0, (byte) number).put(size - 1, (byte) number);
    peer.send(message, common.timeout());
    try (MessageBuffer answer =
        peer.receive(common.timeout())
            .orElseThrow(() -> new Failure("the server closed the connection; check its output"))) {
      ByteBuffer back = answer.byteBuffer();
      if (back.remaining() != size
          || back.get(0) != (byte) number
          || back.get(size - 1) != (byte) number) {
        throw new Failure("message %d came back with other content".formatted(number));
      }
    }
  }
}
