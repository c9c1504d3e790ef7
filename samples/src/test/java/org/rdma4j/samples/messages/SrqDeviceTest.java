package org.rdma4j.samples.messages;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.cm.ConnectionParameters;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SimpleMessages;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.samples.command.CommonOptions;
import org.rdma4j.samples.testing.ChildProcess;
import org.rdma4j.samples.testing.CmRun;
import org.rdma4j.samples.testing.Outcome;
import org.rdma4j.samples.testing.TestDevice;

/** Runs srq against itself. */
@Tag("device")
@Tag("needs-connecting-by-address")
@Timeout(200)
class SrqDeviceTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final String HOST = TestDevice.host();

  @ParameterizedTest
  @CsvSource({"100, 100000", "300, 1"})
  void bothConnectionsCarryAllMessages(int count, int length) throws Exception {
    int port = TestDevice.freePort();
    String options = "-c %d -l %d".formatted(count, length);
    CmRun run = CmRun.inJava(port, server(port, options), client(port, options));

    for (Outcome side : new Outcome[] {run.server(), run.client()}) {
      assertThat(side.err()).isEmpty();
      assertThat(side.out())
          .containsExactly(
              "connection 0: %d messages sent, %1$d received".formatted(count),
              "connection 1: %d messages sent, %1$d received".formatted(count));
      assertThat(side.status()).isZero();
    }
  }

  @Test
  void messagesOfAnotherLengthAreNoticed() throws Exception {
    int port = TestDevice.freePort();
    CmRun run = CmRun.inJava(port, server(port, "-c 1 -l 11"), client(port, "-c 1 -l 10"));

    run.server().assertFailed("give both sides the same -l");
    assertThat(run.client().status()).isEqualTo(1);
  }

  @Test
  void messagesOfOtherContentAreNoticed() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> served = Outcome.begin(server(port, "-c 1 -l 10").split(" "));
    ChildProcess.awaitListeningCm(port);
    try (SynchronousCmId id = resolved(port);
        SynchronousCmId other = resolved(port);
        SimpleMessages queues = SimpleMessages.create(id.id(), 1, 1);
        SimpleMessages others = SimpleMessages.create(other.id(), 1, 1)) {
      id.connect(ConnectionParameters.DEFAULT, TIMEOUT);
      other.connect(ConnectionParameters.DEFAULT, TIMEOUT);
      assertThat(others.queuePair()).isNotNull();
      // Of the right length, but all zeros.
      queues.postSend(1, queues.registerMessages(10).slice(0, 10));
      served.get(60, TimeUnit.SECONDS).assertFailed("message 0 of connection 0 has other content");
    }
  }

  private static SynchronousCmId resolved(int port) throws InterruptedException {
    SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP);
    id.resolveAddress(CommonOptions.address(HOST, port), TIMEOUT);
    id.resolveRoute(TIMEOUT);
    return id;
  }

  @Test
  void clientThatDisconnectsEndsTheServer() throws Exception {
    int port = TestDevice.freePort();
    CompletableFuture<Outcome> served = Outcome.begin(server(port, "-c 1").split(" "));
    ChildProcess.awaitListeningCm(port);
    for (int i = 0; i < SrqSide.CONNECTIONS; i++) {
      try (SynchronousCmId id = resolved(port);
          SimpleMessages queues = SimpleMessages.create(id.id(), 1, 1)) {
        assertThat(queues.queuePair()).isNotNull();
        id.connect(ConnectionParameters.DEFAULT, TIMEOUT);
      }
    }
    served.get(60, TimeUnit.SECONDS).assertFailed("the peer disconnected early");
  }

  private static String server(int port, String options) {
    return "srq -s -a %s -p %d %s".formatted(HOST, port, options);
  }

  private static String client(int port, String options) {
    return "srq -a %s -p %d %s".formatted(HOST, port, options);
  }
}
