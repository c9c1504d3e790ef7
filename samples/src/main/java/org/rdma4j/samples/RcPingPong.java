package org.rdma4j.samples;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.GidEntry;
import org.rdma4j.verbs.LinkLayer;
import org.rdma4j.verbs.Mtu;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.PortAttributes;
import org.rdma4j.verbs.PortState;
import org.rdma4j.verbs.QueuePairAddress;
import org.rdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What ibv_rc_pingpong does, with which it can play. */
@Command(
    name = "rc-pingpong",
    description = {
      "Sends a message back and forth over a reliable connection, as ibv_rc_pingpong does and with"
          + " it or itself as the peer. Without a server name it is the server, which is to be"
          + " started first; both sides take the same -p, -s, -m and -n."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true)
final class RcPingPong implements Runnable {
  private static final int LARGEST_DEPTH = 1 << 24;
  private static final int LONGEST_TIMEOUT = 1_000_000;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "the server's name or address (default: be the server)")
  @Nullable String server;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  Options options;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "the TCP port of the server (default: ${DEFAULT-VALUE})")
  int tcpPort = 18515;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "the port of the RDMA device (default: ${DEFAULT-VALUE})")
  int port = 1;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "BYTES",
      description = "the length of a message (default: ${DEFAULT-VALUE})")
  int size = 4096;

  @Option(
      names = {"-m", "--mtu"},
      paramLabel = "BYTES",
      description = "the path MTU: 256, 512, 1024, 2048 or 4096 (default: ${DEFAULT-VALUE})")
  int mtu = 1024;

  @Option(
      names = {"-r", "--rx-depth"},
      paramLabel = "COUNT",
      description = "how many receives are posted at a time (default: ${DEFAULT-VALUE})")
  int receiveDepth = 500;

  @Option(
      names = {"-n", "--iters"},
      paramLabel = "COUNT",
      description = "how many exchanges are measured (default: ${DEFAULT-VALUE})")
  int iterations = 1000;

  @Option(
      names = {"-l", "--sl"},
      paramLabel = "LEVEL",
      description = "the service level, 0 to 15 (default: ${DEFAULT-VALUE})")
  int serviceLevel;

  @Option(
      names = {"-e", "--events"},
      description = "sleep until something completes (default: poll)")
  boolean events;

  @Option(
      names = {"-g", "--gid-idx"},
      paramLabel = "INDEX",
      description = "the local GID, by its index in the port's table; Ethernet (RoCE) needs it")
  @Nullable Integer gidIndex;

  @Option(
      names = {"-c", "--chk"},
      description = "look at each byte of each message that arrives; give it to both sides")
  boolean validate;

  @Option(
      names = "--warmup",
      paramLabel = "COUNT",
      description =
          "exchanges before those that are measured; give it to both sides, to a peer in C as a"
              + " part of its -n (default: ${DEFAULT-VALUE})")
  int warmup;

  @Option(
      names = "--latency",
      description =
          "time each exchange, there and back, and print minimum, median, 99th percentile and"
              + " maximum in microseconds (client only)")
  boolean latency;

  @Option(
      names = "--progress",
      description = "tell on standard error how far it is, also where that is no terminal")
  boolean progress;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description =
          "how long to wait for the peer, at every step, before giving up (default:"
              + " ${DEFAULT-VALUE})")
  int timeoutSeconds = 60;

  @Override
  public void run() {
    checkUsage();
    PrintWriter out = spec.commandLine().getOut();
    Duration timeout = Duration.ofSeconds(timeoutSeconds);
    try (RdmaDevice device = options.open();
        @Nullable ServerSocket listening =
            server == null ? PingPongExchange.listen(tcpPort) : null) {
      checkDevice(device);
      PingPong game =
          new PingPong(
              device,
              new PingPong.Rules(
                  port,
                  size,
                  receiveDepth,
                  warmup,
                  iterations,
                  events,
                  validate,
                  latency,
                  timeout));
      QueuePairAddress local =
          game.queuePair()
              .address(
                  port,
                  gidIndex == null ? PathConfig.NO_GID : gidIndex,
                  ThreadLocalRandom.current().nextInt(1 << 24));
      out.println("  local address:  " + text(local));

      if (listening != null) {
        QueuePairAddress remote =
            PingPongExchange.asServer(
                listening, timeout, local, client -> game.connect(path(device, local, client)));
        out.println("  remote address: " + text(remote));
      } else if (server != null) {
        QueuePairAddress remote = PingPongExchange.asClient(server, tcpPort, timeout, local);
        out.println("  remote address: " + text(remote));
        game.connect(path(device, local, remote));
        game.serve();
      }

      Progress shown = new Progress(spec.commandLine().getErr(), progress);
      long began = System.nanoTime();
      try {
        if (warmup > 0) {
          play(game, 0, warmup, shown);
          began = System.nanoTime();
        }
        play(game, warmup, (long) warmup + iterations, shown);
      } finally {
        shown.end();
      }
      report(game, System.nanoTime() - began);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private void checkUsage() {
    checkRange("-p", tcpPort, 1, 65535);
    checkRange("-i", port, 1, 255);
    checkRange("-s", size, 1, Integer.MAX_VALUE);
    checkRange("-r", receiveDepth, 1, LARGEST_DEPTH);
    checkRange("-n", iterations, 1, Integer.MAX_VALUE);
    checkRange("-l", serviceLevel, 0, 15);
    checkRange("--warmup", warmup, 0, Integer.MAX_VALUE);
    checkRange("--timeout", timeoutSeconds, 1, LONGEST_TIMEOUT);
    if (gidIndex != null) {
      checkRange("-g", gidIndex, 0, 255);
    }
    try {
      Mtu.ofBytes(mtu);
    } catch (IllegalArgumentException none) {
      throw new ParameterException(spec.commandLine(), "-m: " + none.getMessage(), none);
    }
    if (latency && server == null) {
      throw new ParameterException(
          spec.commandLine(), "--latency is for the client: give it a server name");
    }
  }

  private void checkRange(String option, int value, int least, int most) {
    if (value < least || value > most) {
      throw new ParameterException(
          spec.commandLine(),
          "%s is %d, must be from %d to %d".formatted(option, value, least, most));
    }
  }

  /** What would otherwise fail later, where it is harder to tell why, or after a long wait. */
  private void checkDevice(RdmaDevice device) {
    String name = device.info().name();
    if (port > device.attributes().ports()) {
      throw new Failure(
          "-i %d: %s has the ports 1 to %d".formatted(port, name, device.attributes().ports()));
    }
    PortAttributes attributes = device.port(port);
    if (attributes.state() != PortState.ACTIVE && attributes.state() != PortState.ACTIVE_DEFER) {
      throw new Failure(
          "port %d of %s is in state %s: connect it first"
              .formatted(port, name, attributes.state()));
    }
    if (size > attributes.maxMessageSize()) {
      throw new Failure(
          "-s %d: a message of %s has at most %d bytes"
              .formatted(size, name, attributes.maxMessageSize()));
    }
    if (mtu > attributes.activeMtu().bytes()) {
      throw new Failure(
          "-m %d: port %d of %s has an active MTU of %d"
              .formatted(mtu, port, name, attributes.activeMtu().bytes()));
    }
    if (gidIndex == null && attributes.linkLayer() == LinkLayer.ETHERNET) {
      throw new Failure(
          "port %d of %s is Ethernet (RoCE), which needs -g with the index of a GID; there are %s"
              .formatted(port, name, gids(device)));
    }
    if (gidIndex != null
        && (gidIndex >= attributes.gidTableLength() || device.gid(port, gidIndex).isZero())) {
      throw new Failure(
          "-g %d: port %d of %s has no GID of that index; there are %s"
              .formatted(gidIndex, port, name, gids(device)));
    }
  }

  private String gids(RdmaDevice device) {
    return device.gids().stream()
        .filter(entry -> entry.port() == port)
        .map(RcPingPong::text)
        .collect(Collectors.joining(", "));
  }

  private PathConfig path(RdmaDevice device, QueuePairAddress local, QueuePairAddress remote) {
    // C tells by this half alone whether there is a GID.
    boolean remoteHasGid = remote.gid().interfaceId() != 0;
    if (remoteHasGid && gidIndex == null) {
      throw new Failure(
          "the peer uses a GID, so this side needs one: -g with the index of one of "
              + gids(device));
    }
    if (!remoteHasGid && device.port(port).linkLayer() == LinkLayer.ETHERNET) {
      throw new Failure("the peer sent no GID, which Ethernet (RoCE) needs: start it with -g");
    }
    return PathConfig.to(remote)
        .localSequenceNumber(local.sequenceNumber())
        .port(port)
        .gidIndex(remoteHasGid && gidIndex != null ? gidIndex : PathConfig.NO_GID)
        .mtu(Mtu.ofBytes(mtu))
        .serviceLevel(serviceLevel)
        .hopLimit(1)
        .minimumRnrTimer(12)
        .timeout(14)
        .retries(7)
        .rnrRetry(7);
  }

  private static void play(PingPong game, long from, long to, Progress shown) {
    long step = Math.max(1, (to - from) / 100);
    for (long done = from; done < to; shown.show(done, to)) {
      done = Math.min(done + step, to);
      game.playUntil(done);
    }
  }

  private void report(PingPong game, long nanos) {
    PrintWriter out = spec.commandLine().getOut();
    long bytes = 2L * size * iterations;
    double micros = nanos / 1e3;
    double seconds = nanos / 1e9;
    out.printf(
        Locale.ROOT,
        "%d bytes in %.2f seconds = %.2f Mbit/sec%n",
        bytes,
        seconds,
        bytes * 8 / micros);
    out.printf(
        Locale.ROOT,
        "%d iters in %.2f seconds = %.2f usec/iter%n",
        iterations,
        seconds,
        micros / iterations);
    Histogram times = game.iterationTimes();
    if (times != null) {
      out.printf(
          Locale.ROOT,
          "latency_us size=%d iterations=%d min=%.2f median=%.2f p99=%.2f max=%.2f%n",
          size,
          iterations,
          times.getMinValue() / 1e3,
          times.getValueAtPercentile(50) / 1e3,
          times.getValueAtPercentile(99) / 1e3,
          times.getMaxValue() / 1e3);
    }
  }

  private static String text(QueuePairAddress address) {
    return String.format(
        Locale.ROOT,
        "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s",
        address.lid(),
        address.queuePairNumber(),
        address.sequenceNumber(),
        GidText.address(address.gid()));
  }

  private static String text(GidEntry entry) {
    return "%d (%s, %s)".formatted(entry.index(), GidText.address(entry.gid()), entry.type());
  }
}
