package org.rdma4j.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.nio.handover.Proof;
import org.rdma4j.testing.DisturbedLink;
import org.rdma4j.testing.PeerProcess;

/** Channels between two guests, while their link or their peer fails. */
@Tag("pair")
@Timeout(600)
final class ChannelPairTest {
  private static final long SEED = Long.getLong("org.rdma4j.pair.seed", System.nanoTime());
  private static final Duration DOWN = Duration.ofSeconds(3);
  private static final int CUTS = 2;

  /** How long what this guest sends takes if each step of a handover is to be seen. */
  private static final Duration STEP = Duration.ofMillis(1500);

  /** The time from the connect within which a channel is upgraded, roughly. */
  private static final int MILLIS_AROUND = 500;

  /** So many bytes more than before that some of them were sent after that moment. */
  private static final long ENOUGH = 1 << 20;

  /** Until soft-RoCE, or the connection manager, has given up a peer that is silent. */
  private static final long NOTICED_SECONDS = 90;

  private final Random random = new Random(SEED);
  private RdmaSelectorProvider provider;
  private PeerProcess server;
  private InetSocketAddress address;

  /** What was connected, for the end of a test that fails before it uses it. */
  private final List<CheckedTraffic> connected = new ArrayList<>();

  @BeforeEach
  void start() throws Exception {
    // Each channel tries, whatever became of the one before it. JVMs that are cold take long.
    provider =
        new RdmaSelectorProvider(
            new ChannelSettings(
                true,
                true,
                new Proof(new byte[0], 32),
                Duration.ofSeconds(30),
                0,
                Long.MAX_VALUE,
                1L << 30,
                List.of(),
                Map.of()));
    start(CheckedServer.Way.RDMA, 0);
  }

  private void start(CheckedServer.Way way, int port) throws Exception {
    server = CheckedServer.start(way, port);
    address = CheckedServer.awaitAddress(server);
  }

  @AfterEach
  void close() throws Exception {
    for (CheckedTraffic each : connected) {
      each.close();
    }
    server.close();
    provider.rendezvous().close();
  }

  private CheckedTraffic connect() throws IOException {
    SocketChannel channel = provider.openSocketChannel();
    channel.connect(address);
    CheckedTraffic traffic = new CheckedTraffic(channel, random);
    connected.add(traffic);
    return traffic;
  }

  private CheckedTraffic connectOverRdma() throws Exception {
    long before = provider.statistics().receivedBytes();
    CheckedTraffic traffic = connect();
    UpgradeTest.await(() -> provider.statistics().receivedBytes() > before + ENOUGH);
    return traffic;
  }

  private static void awaitMore(CheckedTraffic traffic) throws Exception {
    long before = traffic.read();
    UpgradeTest.await(() -> traffic.isEnded() || traffic.read() > before + ENOUGH);
  }

  @Test
  void aLinkThatIsCutWhileAChannelGoesOverLosesNothing() throws Exception {
    for (int i = 0; i < CUTS; i++) {
      ChannelStatistics before = provider.statistics();
      try (CheckedTraffic traffic = connect()) {
        if (i % 2 == 0) {
          Thread.sleep(random.nextInt(MILLIS_AROUND));
        } else {
          // If the link has lost too much, it stays on TCP.
          UpgradeTest.await(() -> !provider.statistics().equals(before));
        }
        DisturbedLink.losing(100).during(() -> Thread.sleep(DOWN));
        awaitMore(traffic);
        // Three seconds are less than both TCP and soft-RoCE need to give up.
        assertThat(traffic.isEnded()).as("cut %d, seed %d", i, SEED).isFalse();
        assertThat(traffic.end(NOTICED_SECONDS)).isPositive();
      }
    }
  }

  @Test
  void aLinkThatIsCutInAnyStepOfTheHandoverLosesNothing() throws Exception {
    // It takes four: the connection request, that the client is ready, its claim, and where its
    // output moves to RDMA.
    for (int step = 0; step < 4; step++) {
      try (CheckedTraffic traffic = cutIn(step)) {
        awaitMore(traffic);
        assertThat(traffic.isEnded()).as("cut in step %d", step).isFalse();
        assertThat(traffic.end(NOTICED_SECONDS)).isPositive();
      }
    }
  }

  /**
   * Connects while all that this guest sends takes so long that each step does, and cuts the link
   * in one of them: what is in flight is lost with the delay.
   */
  private CheckedTraffic cutIn(int step) throws Exception {
    return step < 3 ? cutBeforeItHasGoneOver(step) : cutWhenItHasGoneOver();
  }

  private CheckedTraffic cutBeforeItHasGoneOver(int step) throws Exception {
    long before = provider.statistics().upgraded();
    DisturbedLink.delaying(STEP)
        .during(
            () -> {
              connect();
              Thread.sleep(STEP.multipliedBy(step).plus(STEP.dividedBy(2)));
            });
    DisturbedLink.losing(100)
        .during(
            () -> {
              // That the channel of the step before has stayed with TCP may be counted late.
              assertThat(provider.statistics().upgraded()).as("step %d", step).isEqualTo(before);
              Thread.sleep(DOWN);
            });
    return connected.getLast();
  }

  private CheckedTraffic cutWhenItHasGoneOver() throws Exception {
    long before = provider.statistics().upgraded();
    AtomicLong over = new AtomicLong();
    DisturbedLink.delaying(STEP)
        .during(
            () -> {
              connect();
              UpgradeTest.await(() -> provider.statistics().upgraded() > before);
              over.set(System.nanoTime());
            });
    DisturbedLink.losing(100)
        .during(
            () -> {
              // The message that names where the output moves is still in flight.
              assertThat(Duration.ofNanos(System.nanoTime() - over.get())).isLessThan(STEP);
              Thread.sleep(DOWN);
            });
    return connected.getLast();
  }

  @Test
  void aChannelIsResetIfNothingArrivesAnyMore() throws Exception {
    try (CheckedTraffic traffic = connectOverRdma()) {
      DisturbedLink.losing(100).during(() -> traffic.awaitEnd(NOTICED_SECONDS));
    }
    connectOverRdma().close();
  }

  /** So long that RDMA fails, which takes about 15 s, and TCP does not. */
  @Test
  void aStreamWhoseLinkIsCutForLongGoesOnOverTcpAndReturns() throws Exception {
    SocketChannel channel = provider.openSocketChannel();
    channel.connect(address);
    long began = System.nanoTime();
    try (CheckedTraffic traffic = new CheckedTraffic(channel, random)) {
      UpgradeTest.await(() -> provider.statistics().receivedBytes() > ENOUGH);
      DisturbedLink.losing(100).during(() -> UpgradeTest.await(() -> isResuming(channel)));
      long cut = traffic.read();
      UpgradeTest.await(() -> provider.statistics().resumed() == 1);
      awaitMore(traffic);
      long overTcp = traffic.read();
      UpgradeTest.await(() -> provider.statistics().upgraded() == 2);
      long before = provider.statistics().receivedBytes();
      UpgradeTest.await(() -> provider.statistics().receivedBytes() > before + ENOUGH);
      assertThat(traffic.isEnded()).as("seed %d", SEED).isFalse();
      long all = traffic.end(NOTICED_SECONDS);
      System.out.printf(
          "%d bytes came until the end of the cut, %d more over TCP, %d in all, in %d s%n",
          cut, overTcp - cut, all, Duration.ofNanos(System.nanoTime() - began).toSeconds());
    }
  }

  private static boolean isResuming(SocketChannel channel) {
    Upgrade upgrade = ((StreamChannel) channel).upgrade().get();
    return upgrade != null && upgrade.isResuming();
  }

  @Test
  void aServerThatIsKilledBeforeOrWhileOrAfterAChannelGoesOverEndsIt() throws Exception {
    for (int moment = 0; moment < 3; moment++) {
      long before = provider.statistics().upgraded();
      try (CheckedTraffic traffic = moment == 2 ? connectOverRdma() : connect()) {
        if (moment == 0) {
          awaitMore(traffic);
        } else if (moment == 1) {
          UpgradeTest.await(() -> provider.statistics().upgraded() > before);
        }
        server.kill();
        assertThat(traffic.awaitEnd(NOTICED_SECONDS)).as("moment %d", moment).isPositive();
      }
      start(CheckedServer.Way.RDMA, address.getPort());
    }
    connectOverRdma().close();
  }

  @Test
  void aServerThatIsRestartedWithoutTheProviderIsServedOverTcp() throws Exception {
    connectOverRdma().close();
    server.kill();
    start(CheckedServer.Way.TCP, address.getPort());
    assertThatTheNextChannelStaysWithTcp();
    server.kill();
    start(CheckedServer.Way.RDMA, address.getPort());
    connectOverRdma().close();
  }

  private void assertThatTheNextChannelStaysWithTcp() throws Exception {
    ChannelStatistics before = provider.statistics();
    try (CheckedTraffic traffic = connect()) {
      UpgradeTest.await(() -> provider.statistics().stayed() > before.stayed());
      awaitMore(traffic);
      assertThat(traffic.isEnded()).isFalse();
    }
    assertThat(provider.statistics().receivedBytes()).isEqualTo(before.receivedBytes());
  }
}
