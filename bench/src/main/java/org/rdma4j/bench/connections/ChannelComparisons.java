package org.rdma4j.bench.connections;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.nio.RdmaSelectorProvider;

/**
 * Compares channels of java.nio that have gone over to RDMA with {@link RdmaConnection}, and with
 * the JDK's channels over TCP; and Netty over such a channel, and over its own transport for RDMA,
 * with {@link RdmaConnection}.
 */
final class ChannelComparisons {
  private static final Duration TIME = Duration.ofSeconds(3);
  private static final int BYTES = 64;
  private static final int PIECE = 1 << 16;
  private static final int FEW = 16;
  private static final int MANY = 1000;

  /** What each channel of a storm exchanges. */
  private static final int STORM_BYTES = 2048;

  private static final int STORMS_BEFORE = 50;

  /** How many storms a pair of other figures takes as long as. */
  private static final int STORMS = 5;

  /** How long a channel may take to go over. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final InetSocketAddress server;
  private final int pairs;
  private final RdmaSelectorProvider rdma = new RdmaSelectorProvider();
  private final SelectorProvider tcp = SelectorProvider.provider();

  ChannelComparisons(InetSocketAddress server, int pairs) {
    this.server = server;
    this.pairs = pairs;
  }

  Map<String, Connections.Step> steps() {
    return Map.ofEntries(
        Map.entry("channel-echo", this::echo),
        Map.entry("channel-select", this::select),
        Map.entry("channel-stream", this::stream),
        Map.entry("channel-tcp-echo", this::tcpEcho),
        Map.entry("channel-tcp-stream", this::tcpStream),
        Map.entry("channel-over", this::goingOver),
        Map.entry("channel-many", this::many),
        Map.entry("stays-on-tcp-echo", this::stayingEcho),
        Map.entry("stays-on-tcp-stream", this::stayingStream),
        Map.entry("stays-on-tcp-storm", this::stayingStorm),
        Map.entry("netty-channel", this::nettyChannel),
        Map.entry("netty-transport", this::nettyTransport));
  }

  /**
   * Returns the TCP address of the peer's channels over RDMA, or of those that stay with TCP. A
   * property names the host if the address of the RDMA device is none of the kernel's.
   */
  private InetSocketAddress address(SelectorProvider provider) {
    return tcp(provider == rdma ? Peer.channelPort(server) : Peer.tcpChannelPort(server));
  }

  private InetSocketAddress tcp(int port) {
    return new InetSocketAddress(
        System.getProperty("org.rdma4j.bench.tcp", server.getHostString()), port);
  }

  private SocketChannel open(SelectorProvider provider, byte what) throws IOException {
    return open(provider, address(provider), what);
  }

  /** Opens a channel to a peer that has no provider. */
  private SocketChannel openToTcp(SelectorProvider provider, byte what) throws IOException {
    return open(provider, tcp(Peer.tcpChannelPort(server)), what);
  }

  private static SocketChannel open(SelectorProvider provider, InetSocketAddress to, byte what)
      throws IOException {
    SocketChannel channel = provider.openSocketChannel();
    channel.connect(to);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.write(ByteBuffer.allocate(1).put(what).flip());
    return channel;
  }

  /** What is done with a channel until it has gone over. */
  private interface Exchange {
    void run() throws Exception;
  }

  /** Repeats an exchange until so many channels have gone over, from a number before. */
  private void goOver(long before, int channels, Exchange exchange) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (rdma.statistics().upgraded() - before < channels) {
      if (System.nanoTime() - end > 0) {
        throw new IOException(
            "of %d channels to %s some stay with TCP, log org.rdma4j.nio at DEBUG to see why: %s"
                .formatted(channels, address(rdma), rdma.statistics()));
      }
      exchange.run();
    }
  }

  private SocketChannel openOverRdma(byte what) throws Exception {
    long before = rdma.statistics().upgraded();
    SocketChannel channel = open(rdma, what);
    goOver(before, 1, () -> exchange(channel, what));
    return channel;
  }

  private static void exchange(SocketChannel channel, byte what) throws IOException {
    if (what == ChannelPeer.SINK) {
      var unused = ChannelRates.pieces(channel, Duration.ofMillis(1));
    } else {
      var unused = ChannelRates.echoes(channel, BYTES, Duration.ofMillis(1));
    }
  }

  private ConnectionComparison echo() throws Exception {
    try (SocketChannel channel = openOverRdma(ChannelPeer.ECHO)) {
      return echoesBesideConnection(
          1.2, "over a blocking channel", time -> ChannelRates.echoes(channel, BYTES, time));
    }
  }

  private ConnectionComparison select() throws Exception {
    try (Selector selector = selecting(1)) {
      ConnectionComparison comparison =
          echoesBesideConnection(
              1.2,
              "over channels with selectors",
              time -> ChannelRates.selectedEchoes(selector, BYTES, time));
      close(selector);
      return comparison;
    }
  }

  private ConnectionComparison stream() throws Exception {
    try (SocketChannel channel = openOverRdma(ChannelPeer.SINK)) {
      return besideConnection(
          ConnectionComparison.atLeast(0.85, "64 KiB one way over a channel", "pieces/s"),
          "sink",
          time -> ChannelRates.pieces(channel, time).perSecond(),
          (connection, time) -> Rates.sends(connection, PIECE, time).perSecond());
    }
  }

  private ConnectionComparison nettyChannel() throws Exception {
    long before = rdma.statistics().upgraded();
    try (NettyEcho netty = NettyEcho.overChannels(rdma, tcp(Peer.nettyChannelPort(server)))) {
      goOver(before, 1, () -> netty.run(Duration.ofMillis(1)));
      return echoesBesideConnection(1.6, "over Netty and a channel", netty::run);
    }
  }

  private ConnectionComparison nettyTransport() throws Exception {
    try (NettyEcho netty = NettyEcho.overTransport(Peer.netty(server))) {
      return echoesBesideConnection(1.6, "over Netty's transport for RDMA", netty::run);
    }
  }

  /** Echoes over channels. */
  private interface Echoes {
    EchoTimes run(Duration time) throws Exception;
  }

  /** Compares the medians, and prints the means, which a few long pauses determine. */
  private ConnectionComparison echoesBesideConnection(double aim, String what, Echoes ours)
      throws Exception {
    return besideConnection(
        ConnectionComparison.atMost(aim, "echo of 64 B " + what + ", median", "us"),
        "echo",
        time -> median("this", ours.run(time)),
        (connection, time) -> median("the connection", Rates.echoes(connection, BYTES, time)));
  }

  private static double median(String what, EchoTimes times) {
    double mean = times.result().micros();
    System.out.printf(Locale.ROOT, "  mean of %s: %.4g us%n", what, mean);
    return times.median();
  }

  /** A figure of a channel. */
  private interface Channels {
    double measure(Duration time) throws Exception;
  }

  private ConnectionComparison besideConnection(
      ConnectionComparison comparison, String ask, Channels ours, Connections.Measurement other)
      throws Exception {
    try (RdmaConnection connection = RdmaConnection.connect(server)) {
      Rates.ask(connection, ask);
      WarmUp.run(connection, ours::measure);
      WarmUp.run(connection, time -> other.measure(connection, time));
      for (int i = 0; i < pairs; i++) {
        double our = ours.measure(TIME);
        comparison.add(our, other.measure(connection, TIME));
      }
    }
    return comparison;
  }

  private ConnectionComparison tcpEcho() throws Exception {
    try (SocketChannel channel = openOverRdma(ChannelPeer.ECHO);
        SocketChannel over = open(tcp, ChannelPeer.ECHO)) {
      return besideTcp(
          ConnectionComparison.withoutAim("echo of 64 B over RDMA, beside TCP", "us"),
          time -> ChannelRates.echoes(channel, BYTES, time).result().micros(),
          time -> ChannelRates.echoes(over, BYTES, time).result().micros());
    }
  }

  private ConnectionComparison tcpStream() throws Exception {
    try (SocketChannel channel = openOverRdma(ChannelPeer.SINK);
        SocketChannel over = open(tcp, ChannelPeer.SINK)) {
      return besideTcp(
          ConnectionComparison.withoutAim("64 KiB one way over RDMA, beside TCP", "pieces/s"),
          time -> ChannelRates.pieces(channel, time).perSecond(),
          time -> ChannelRates.pieces(over, time).perSecond());
    }
  }

  private ConnectionComparison stayingEcho() throws Exception {
    try (SocketChannel ours = openToTcp(rdma, ChannelPeer.ECHO);
        SocketChannel plain = openToTcp(tcp, ChannelPeer.ECHO)) {
      return besideTcp(
          ConnectionComparison.atMost(1.02, "echo of 64 B to a TCP-only peer, beside TCP", "us"),
          time -> ChannelRates.echoes(ours, BYTES, time).result().micros(),
          time -> ChannelRates.echoes(plain, BYTES, time).result().micros());
    }
  }

  private ConnectionComparison stayingStream() throws Exception {
    try (SocketChannel ours = openToTcp(rdma, ChannelPeer.SINK);
        SocketChannel plain = openToTcp(tcp, ChannelPeer.SINK)) {
      return besideTcp(
          ConnectionComparison.atLeast(
              0.98, "64 KiB one way to a TCP-only peer, beside TCP", "pieces/s"),
          time -> ChannelRates.pieces(ours, time).perSecond(),
          time -> ChannelRates.pieces(plain, time).perSecond());
    }
  }

  /** The first channels try to go over. Then the server is left alone, as in a program. */
  private ConnectionComparison stayingStorm() throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.atMost(
            1.05, "1000 connects and echoes to a TCP-only peer, beside TCP", "ms");
    for (int i = -STORMS_BEFORE; i < STORMS * pairs; i++) {
      double ours = storm(rdma);
      double plain = storm(tcp);
      if (i >= 0) {
        comparison.add(ours, plain);
      }
    }
    return comparison;
  }

  /** Returns how long it takes until each of many channels has exchanged what a proof needs. */
  private double storm(SelectorProvider provider) throws IOException {
    List<SocketChannel> channels = new ArrayList<>();
    ByteBuffer bytes = ByteBuffer.allocateDirect(STORM_BYTES);
    try {
      long begin = System.nanoTime();
      for (int i = 0; i < MANY; i++) {
        SocketChannel channel = openToTcp(provider, ChannelPeer.SELECT);
        channels.add(channel);
        channel.write(bytes.clear());
        ChannelRates.read(channel, bytes, STORM_BYTES);
      }
      return (System.nanoTime() - begin) / 1e6;
    } finally {
      for (SocketChannel each : channels) {
        each.close();
      }
    }
  }

  /** The connection only asks the peer for its compilers. */
  private ConnectionComparison besideTcp(
      ConnectionComparison comparison, Channels ours, Channels other) throws Exception {
    return besideConnection(comparison, "sink", ours, (unused, time) -> other.measure(time));
  }

  /** From the connect on, while echoes of 64 bytes go over TCP. */
  private ConnectionComparison goingOver() throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.withoutAim("time until a channel has gone over", "ms");
    // What runs once for each channel is compiled only after many.
    for (int i = -2 * FEW; i < pairs; i++) {
      long begin = System.nanoTime();
      long echoes = 0;
      long before = rdma.statistics().upgraded();
      try (SocketChannel channel = open(rdma, ChannelPeer.ECHO)) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
        while (rdma.statistics().upgraded() == before) {
          channel.write(buffer.clear());
          ChannelRates.read(channel, buffer, BYTES);
          echoes++;
          if (System.nanoTime() - begin > PATIENCE.toNanos()) {
            throw new IOException("a channel stays with TCP: " + rdma.statistics());
          }
        }
        double millis = (System.nanoTime() - begin) / 1e6;
        if (i >= 0) {
          comparison.add(millis);
          System.out.printf("  %d bytes each way went over TCP%n", echoes * BYTES);
        }
      }
    }
    return comparison;
  }

  private ConnectionComparison many() throws Exception {
    ConnectionComparison comparison =
        ConnectionComparison.atLeast(
            0.5, "echoes over 1000 channels of a selector, beside 16", "echoes/s");
    try (Selector few = selecting(FEW);
        Selector lots = selecting(MANY);
        RdmaConnection compilers = RdmaConnection.connect(server)) {
      Rates.ask(compilers, "sink");
      WarmUp.run(compilers, time -> ChannelRates.selectedEchoes(few, BYTES, time));
      WarmUp.run(compilers, time -> ChannelRates.selectedEchoes(lots, BYTES, time));
      for (int i = 0; i < pairs; i++) {
        double our = ChannelRates.selectedEchoes(lots, BYTES, TIME).result().perSecond();
        comparison.add(our, ChannelRates.selectedEchoes(few, BYTES, TIME).result().perSecond());
      }
      close(few);
      close(lots);
    }
    return comparison;
  }

  private static void close(Selector selector) throws IOException {
    for (SelectionKey key : selector.keys()) {
      key.channel().close();
    }
  }

  /** Opens a selector with so many channels that have gone over. */
  private Selector selecting(int channels) throws Exception {
    long before = rdma.statistics().upgraded();
    Selector selector = rdma.openSelector();
    for (int i = 0; i < channels; i++) {
      SocketChannel channel = open(rdma, ChannelPeer.SELECT);
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ);
    }
    goOver(
        before,
        channels,
        () -> ChannelRates.selectedEchoes(selector, BYTES, Duration.ofMillis(100)));
    return selector;
  }
}
