package org.rdma4j.tools.pingpong;

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
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.GidText;
import org.rdma4j.tools.command.Progress;
import org.rdma4j.tools.command.TcpPeer;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.LinkLayer;
import org.rdma4j.verbs.attribute.Mtu;

/** One run of a ping-pong program: the exchange of addresses, the ping-pong, the report. */
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
            options.peer.isServer() ? TcpPeer.listen(options.peer.tcpPort()) : null) {
      checkDevice(device);
      PingPong pingPong = new PingPong(device, settings());
      List<QueuePairAddress> local = addresses(pingPong);
      local.forEach(address -> out.println("  local address:  " + address));
      connect(device, listening, pingPong, local, mtu);
      exchangeMessages(pingPong);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private PingPong.Settings settings() {
    return new PingPong.Settings(
        kind,
        queuePairs,
        options.port.number(),
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
      pathMtu.checkDevice(device, options.port.number());
    }
    int activeMtu = device.port(options.port.number()).attributes().activeMtu().bytes();
    if (kind == PingPongKind.UD && options.size > activeMtu) {
      throw new Failure(
          "-s is %d, must be at most %d for datagrams, the active MTU of port %d of %s"
              .formatted(options.size, activeMtu, options.port.number(), device.info().name()));
    }
  }

  private List<QueuePairAddress> addresses(PingPong pingPong) {
    List<QueuePairAddress> addresses = new ArrayList<>();
    for (QueuePair queuePair : pingPong.queuePairs()) {
      addresses.add(queuePair.address(options.port.number(), options.port.gidIndex()));
    }
    return addresses;
  }

  /** Exchanges the addresses and connects the queue pairs; the client then sends first. */
  private void connect(
      RdmaDevice device,
      @Nullable ServerSocket listening,
      PingPong pingPong,
      List<QueuePairAddress> local,
      Mtu mtu) {
    PingPongExchange exchange = new PingPongExchange(kind.nameInC(), options.peer.timeout());
    List<QueuePairAddress> sent = new ArrayList<>(local);
    sent.addAll(Collections.nCopies(kind.addresses() - local.size(), NO_ADDRESS));
    if (listening != null) {
      print(
          exchange.asServer(
              listening, sent, clients -> pingPong.connect(paths(device, local, clients, mtu))));
    } else if (options.peer.server() != null) {
      List<QueuePairAddress> servers =
          exchange.asClient(options.peer.server(), options.peer.tcpPort(), sent);
      print(servers);
      pingPong.connect(paths(device, local, servers, mtu));
      pingPong.start();
    }
  }

  private void print(List<QueuePairAddress> remote) {
    remote.subList(0, queuePairs).forEach(address -> out.println("  remote address: " + address));
  }

  private List<PathConfig> paths(
      RdmaDevice device, List<QueuePairAddress> local, List<QueuePairAddress> remote, Mtu mtu) {
    List<PathConfig> paths = new ArrayList<>();
    for (int i = 0; i < local.size(); i++) {
      if (remote.get(i).equals(NO_ADDRESS)) {
        throw new Failure(
            "the peer has %d queue pairs, this side has %d; give both the same -q"
                .formatted(i, local.size()));
      }
      paths.add(path(device, remote.get(i), mtu));
    }
    return paths;
  }

  private PathConfig path(RdmaDevice device, QueuePairAddress remote, Mtu mtu) {
    // C checks only this half to find out whether there is a GID.
    boolean remoteHasGid = remote.gid().interfaceId() != 0;
    if (remoteHasGid && !options.port.hasGid()) {
      throw new Failure(
          "the peer uses a GID, so this side needs one too; give -g one of these indices: "
              + GidText.table(device, options.port.number()));
    }
    if (!remoteHasGid
        && device.port(options.port.number()).attributes().linkLayer() == LinkLayer.ETHERNET) {
      throw new Failure(
          remote.gid().isZero()
              ? "the peer sent no GID, but Ethernet (RoCE) needs one; start the peer with -g"
              : "the peer sent the GID "
                  + remote.gid()
                  + ", which is not one of RoCE; start the peer with -d and another device");
    }
    return PathConfig.to(remote)
        .port(options.port.number())
        .gidIndex(remoteHasGid ? options.port.gidIndex() : PathConfig.NO_GID)
        .mtu(mtu)
        .serviceLevel(options.serviceLevel)
        .hopLimit(1)
        .minimumRnrTimer(12)
        .timeout(14)
        .retries(7)
        .rnrRetries(7);
  }

  private void exchangeMessages(PingPong pingPong) {
    Progress shown = new Progress(options.spec.commandLine().getErr(), options.progress);
    try {
      run(pingPong, 0, options.warmup, shown);
      long done = options.warmup;
      for (int round = 0; round < options.rounds; round++) {
        if (round > 0 && !options.peer.isServer()) {
          awaitLine();
        }
        long began = System.nanoTime();
        run(pingPong, done, done + options.iterations, shown);
        long nanos = System.nanoTime() - began;
        shown.end();
        report(nanos);
        done += options.iterations;
      }
    } finally {
      shown.end();
    }
    reportIterations(pingPong);
  }

  /** Waits for a line; returns immediately if standard input has ended. */
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

  private static void run(PingPong pingPong, long from, long to, Progress shown) {
    long step = Math.max(1, (to - from) / 100);
    for (long done = from; done < to; shown.show(done, to)) {
      done = Math.min(done + step, to);
      pingPong.runUntil(done);
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

  private void reportIterations(PingPong pingPong) {
    ReceiveTimes receives = pingPong.receiveTimes();
    if (receives != null && receives.areKnown()) {
      out.printf("Max receive completion clock cycles = %d%n", receives.longest());
      out.printf("Min receive completion clock cycles = %d%n", receives.shortest());
      out.printf(Locale.ROOT, "Average receive completion clock cycles = %f%n", receives.average());
    }
    Histogram times = pingPong.iterationTimes();
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
}
