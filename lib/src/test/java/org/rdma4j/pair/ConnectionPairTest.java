package org.rdma4j.pair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.testing.DisturbedLink;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.PeerProcess;

/** Tests connections between two guests while their link or their peer fails. */
@Tag("pair")
@Timeout(900)
class ConnectionPairTest {
  private static final long SEED = Long.getLong("org.rdma4j.pair.seed", System.nanoTime());
  private static final int ECHOES = Integer.getInteger("org.rdma4j.pair.echoes", 10_000);
  private static final int FEW = 40;
  private static final int ENDLESS = 1_000_000;
  private static final Duration DOWN = Duration.ofSeconds(3);
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  /** For calls that may time out, long before the test does. */
  private static final Duration SHORT = Duration.ofSeconds(20);

  /** Shorter than the timeouts of other calls, so that none of those can have ended the wait. */
  private static final long NOTICED_SECONDS = 90;

  private static PeerProcess peer;
  private static InetSocketAddress server;

  @BeforeAll
  static void start() throws Exception {
    peer = startServer();
    server = awaitServer(peer);
  }

  @AfterAll
  static void stop() throws Exception {
    peer.close();
  }

  private static PeerProcess startServer() throws Exception {
    return PeerProcess.start(JavaCommand.of(EchoServer.class, PeerProcess.HOST));
  }

  private static InetSocketAddress awaitServer(PeerProcess process) {
    return new InetSocketAddress(
        PeerProcess.HOST, Integer.parseInt(process.awaitLine(EchoServer.LISTENING)));
  }

  private static RdmaConnection connect(InetSocketAddress to) throws Exception {
    return RdmaConnection.connect(to, TIMEOUT);
  }

  private static void echo(int count) throws Exception {
    echo(count, DisturbedLink.undisturbed());
  }

  private static void echo(int count, DisturbedLink link) throws Exception {
    try (RdmaConnection connection = connect(server)) {
      long began = System.nanoTime();
      link.during(() -> new Echoes(connection, SEED, count).run());
      System.out.printf(
          Locale.ROOT,
          "%d echoes of seed %d in %.1f s%n",
          count,
          SEED,
          (System.nanoTime() - began) / 1e9);
    }
  }

  @Test
  void messagesOfAllLengthsComeBackUnchanged() throws Exception {
    echo(ECHOES);
  }

  @Test
  void nothingIsLostIfTheLinkLosesTwoPercent() throws Exception {
    // If the last packet of a burst is lost, soft-RoCE waits 2 s for its acknowledgement.
    echo(FEW / 2, DisturbedLink.losing(2));
  }

  @Test
  void messagesComeBackOverALinkWithADelayOfTwentyMilliseconds() throws Exception {
    echo(FEW, DisturbedLink.delaying(Duration.ofMillis(20)));
  }

  @Test
  void connectionSurvivesThreeSecondsWithoutPackets() throws Exception {
    try (RdmaConnection connection = connect(server)) {
      FutureTask<Boolean> echoes = new Echoes(connection, SEED, 400).begin();
      DisturbedLink.losing(100).during(() -> Thread.sleep(DOWN));
      assertThat(get(echoes)).isTrue();
    }
  }

  @Test
  void connectionBreaksWhenNothingArrivesAnyMore() throws Exception {
    try (RdmaConnection connection = connect(server)) {
      FutureTask<Boolean> echoes = new Echoes(connection, SEED, ENDLESS).begin();
      DisturbedLink.losing(100).during(() -> assertThatItBreaks(echoes));
    }
    echo(FEW);
  }

  @Test
  void connectionThatSendsWhileItsLinkIsDownBreaks() throws Exception {
    try (RdmaConnection connection = connect(server)) {
      DisturbedLink.down()
          .during(
              () -> {
                connection.send(ByteBuffer.allocate(1), TIMEOUT);
                Thread.sleep(DOWN);
              });
      assertThatThrownBy(() -> connection.receive(TIMEOUT))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("LOCAL_QUEUE_PAIR_OPERATION_ERROR");
    }
    echo(FEW);
  }

  @Test
  void callsEndInTimeIfTheLinkIsDownBetweenMessages() throws Exception {
    try (RdmaConnection connection = connect(server)) {
      // So few that the peer has a receive for a message that is sent while the link is down.
      FutureTask<Boolean> echoes = new Echoes(connection, SEED, ENDLESS, 2, SHORT).begin();
      DisturbedLink.down()
          .during(
              () -> {
                assertThat(catchThrowable(() -> connection.send(ByteBuffer.allocate(1), TIMEOUT)))
                    .satisfiesAnyOf(
                        sent -> assertThat(sent).isNull(),
                        broken -> assertThat(broken).isInstanceOf(RdmaException.class));
                Thread.sleep(DOWN);
              });
      assertThatThrownBy(() -> get(echoes))
          .cause()
          .isInstanceOfAny(RdmaException.class, TimeoutException.class);
    }
    echo(FEW);
  }

  @Test
  void idleConnectionSurvivesThatItsLinkIsDown() throws Exception {
    try (RdmaConnection connection = connect(server)) {
      DisturbedLink.down().during(() -> Thread.sleep(DOWN));
      new Echoes(connection, SEED, FEW).run();
    }
  }

  @Test
  void killedPeerBreaksTheConnectionButNotTheNextOne() throws Exception {
    try (PeerProcess victim = startServer();
        RdmaConnection connection = connect(awaitServer(victim))) {
      FutureTask<Boolean> echoes = new Echoes(connection, SEED, ENDLESS).begin();
      victim.kill();
      assertThatItBreaks(echoes).hasMessageContaining("ECONNRESET");
    }
    echo(FEW);
  }

  private static AbstractThrowableAssert<?, ?> assertThatItBreaks(FutureTask<Boolean> echoes) {
    long began = System.nanoTime();
    AbstractThrowableAssert<?, ?> thrown =
        assertThatThrownBy(() -> get(echoes)).cause().isInstanceOf(RdmaException.class);
    System.out.printf(Locale.ROOT, "broken after %.1f s%n", (System.nanoTime() - began) / 1e9);
    return thrown;
  }

  private static boolean get(FutureTask<Boolean> echoes) throws Exception {
    return echoes.get(NOTICED_SECONDS, TimeUnit.SECONDS);
  }
}
