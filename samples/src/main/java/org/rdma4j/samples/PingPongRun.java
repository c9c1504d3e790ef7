package org.rdma4j.samples;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.LinkLayer;
import org.rdma4j.verbs.attribute.Mtu;

/** A run of a program of the ping-pong family: exchange of addresses, game, report. */
final class PingPongRun {
  private static final QueuePairAddress NO_ADDRESS = new QueuePairAddress(0, 0, 0, Gid.ZERO);

  private final PingPongKind kind;
  private final PingPongOptions options;
  private final @Nullable PathMtu pathMtu;
  private final int queuePairs;
  private final Features features;
  private final PrintWriter out;

  private PingPongRun(
      PingPongKind kind,
      PingPongOptions options,
      @Nullable PathMtu pathMtu,
      int queuePairs,
      Features features) {
    this.kind = kind;
    this.features = features;
    this.options = options;
    this.pathMtu = pathMtu;
    this.queuePairs = queuePairs;
    this.out = options.spec.commandLine().getOut();
  }

  static PingPongRun reliable(PingPongOptions options, PathMtu pathMtu, Features features) {
    return new PingPongRun(PingPongKind.RC, options, pathMtu, 1, features);
  }

  static PingPongRun unreliable(PingPongOptions options, PathMtu pathMtu) {
    return new PingPongRun(PingPongKind.UC, options, pathMtu, 1, Features.NONE);
  }

  static PingPongRun datagrams(PingPongOptions options) {
    return new PingPongRun(PingPongKind.UD, options, null, 1, Features.NONE);
  }

  static PingPongRun shared(PingPongOptions options, PathMtu pathMtu, int queuePairs) {
    return new PingPongRun(PingPongKind.SRQ, options, pathMtu, queuePairs, Features.NONE);
  }

  void run() {
    options.check();
    Mtu mtu = pathMtu == null ? Mtu.MTU_1024 : pathMtu.mtu();
    try (RdmaDevice device = options.port.open();
        @Nullable ServerSocket listening =
            options.peer.server == null ? TcpPeer.listen(options.peer.tcpPort) : null) {
      checkDevice(device);
      PingPong game = new PingPong(device, rules());
      List<QueuePairAddress> local = addresses(game);
      local.forEach(address -> out.println("  local address:  " + text(address)));
      exchange(device, listening, game, local, mtu);
      play(game);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private PingPong.Rules rules() {
    return new PingPong.Rules(
        kind,
        queuePairs,
        options.port.number,
        options.size,
        options.receiveDepth,
        options.warmup,
        options.measuredIterations(),
        options.events,
        options.validate,
        options.latency,
        options.peer.timeout(),
        features);
  }

  private void checkDevice(RdmaDevice device) {
    options.checkDevice(device);
    features.checkDevice(device);
    if (pathMtu != null) {
      pathMtu.checkDevice(device, options.port.number);
    }
    int activeMtu = device.port(options.port.number).activeMtu().bytes();
    if (kind == PingPongKind.UD && options.size > activeMtu) {
      throw new Failure(
          "-s %d: a datagram has at most the active MTU of port %d of %s, %d bytes"
              .formatted(options.size, options.port.number, device.info().name(), activeMtu));
    }
  }

  private List<QueuePairAddress> addresses(PingPong game) {
    List<QueuePairAddress> addresses = new ArrayList<>();
    for (QueuePair queuePair : game.queuePairs()) {
      addresses.add(queuePair.address(options.port.number, options.port.gidIndex()));
    }
    return addresses;
  }

  /** The client begins to play once both are connected. */
  private void exchange(
      RdmaDevice device,
      @Nullable ServerSocket listening,
      PingPong game,
      List<QueuePairAddress> local,
      Mtu mtu) {
    PingPongExchange exchange = new PingPongExchange(kind.namesake(), options.peer.timeout());
    List<QueuePairAddress> sent = new ArrayList<>(local);
    sent.addAll(Collections.nCopies(kind.addresses() - local.size(), NO_ADDRESS));
    if (listening != null) {
      print(
          exchange.asServer(
              listening, sent, clients -> game.connect(paths(device, local, clients, mtu))));
    } else if (options.peer.server != null) {
      List<QueuePairAddress> servers =
          exchange.asClient(options.peer.server, options.peer.tcpPort, sent);
      print(servers);
      game.connect(paths(device, local, servers, mtu));
      game.serve();
    }
  }

  private void print(List<QueuePairAddress> remote) {
    remote
        .subList(0, queuePairs)
        .forEach(address -> out.println("  remote address: " + text(address)));
  }

  private List<PathConfig> paths(
      RdmaDevice device, List<QueuePairAddress> local, List<QueuePairAddress> remote, Mtu mtu) {
    List<PathConfig> paths = new ArrayList<>();
    for (int i = 0; i < local.size(); i++) {
      if (remote.get(i).equals(NO_ADDRESS)) {
        throw new Failure(
            "the peer has %d queue pairs, this side %d: give both the same -q"
                .formatted(i, local.size()));
      }
      paths.add(path(device, local.get(i), remote.get(i), mtu));
    }
    return paths;
  }

  private PathConfig path(
      RdmaDevice device, QueuePairAddress local, QueuePairAddress remote, Mtu mtu) {
    // C tells by this half alone whether there is a GID.
    boolean remoteHasGid = remote.gid().interfaceId() != 0;
    Integer gidIndex = options.port.gidIndex;
    if (remoteHasGid && gidIndex == null) {
      throw new Failure(
          "the peer uses a GID, so this side needs one: -g with the index of one of "
              + GidText.table(device, options.port.number));
    }
    if (!remoteHasGid && device.port(options.port.number).linkLayer() == LinkLayer.ETHERNET) {
      throw new Failure("the peer sent no GID, which Ethernet (RoCE) needs: start it with -g");
    }
    return PathConfig.to(remote)
        .port(options.port.number)
        .gidIndex(remoteHasGid && gidIndex != null ? gidIndex : PathConfig.NO_GID)
        .mtu(mtu)
        .serviceLevel(options.serviceLevel)
        .hopLimit(1)
        .minimumRnrTimer(12)
        .timeout(14)
        .retries(7)
        .rnrRetry(7);
  }

  private void play(PingPong game) {
    Progress shown = new Progress(options.spec.commandLine().getErr(), options.progress);
    try {
      play(game, 0, options.warmup, shown);
      long played = options.warmup;
      for (int round = 0; round < options.rounds; round++) {
        if (round > 0 && options.peer.server != null) {
          awaitLine();
        }
        long began = System.nanoTime();
        play(game, played, played + options.iterations, shown);
        long nanos = System.nanoTime() - began;
        shown.end();
        report(nanos);
        played += options.iterations;
      }
    } finally {
      shown.end();
    }
    reportIterations(game);
  }

  /** Returns at once where the standard input has ended. */
  private static void awaitLine() {
    try {
      int typed;
      do {
        typed = System.in.read();
      } while (typed != '\n' && typed != -1);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static void play(PingPong game, long from, long to, Progress shown) {
    long step = Math.max(1, (to - from) / 100);
    for (long done = from; done < to; shown.show(done, to)) {
      done = Math.min(done + step, to);
      game.playUntil(done);
    }
  }

  private void report(long nanos) {
    long bytes = 2L * options.size * options.iterations;
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
        options.iterations,
        seconds,
        micros / options.iterations);
  }

  private void reportIterations(PingPong game) {
    ReceiveTimes receives = game.receiveTimes();
    if (receives != null && receives.areKnown()) {
      out.printf("Max receive completion clock cycles = %d%n", receives.longest());
      out.printf("Min receive completion clock cycles = %d%n", receives.shortest());
      out.printf(Locale.ROOT, "Average receive completion clock cycles = %f%n", receives.average());
    }
    Histogram times = game.iterationTimes();
    if (times != null) {
      out.printf(
          Locale.ROOT,
          "latency_us size=%d iterations=%d min=%.2f median=%.2f p99=%.2f max=%.2f%n",
          options.size,
          options.measuredIterations(),
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
}
