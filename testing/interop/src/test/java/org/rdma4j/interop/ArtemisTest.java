package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;
import org.rdma4j.testing.SimulatedAdapter;

/** A broker of ActiveMQ Artemis in one JVM, and its client in another. */
final class ArtemisTest {
  private static final int MESSAGES = 20_000;

  @Test
  void aBrokenAdapterIsNoFailureOfTheConnection() throws Exception {
    int port = FreePort.find();
    try (ChildProcess broker =
            Program.startServer(port, Program.command(ArtemisBroker.class, String.valueOf(port)));
        ChildProcess client =
            ChildProcess.start(
                Program.command(
                    ArtemisMessages.class, String.valueOf(port), String.valueOf(MESSAGES)))) {
      Outcome outcome = client.await();
      assertThat(outcome.status()).as(outcome.toString()).isZero();
      assertThat(outcome.out()).contains(ArtemisMessages.RECEIVED + MESSAGES);
      // The first half of them is sent before the adapter breaks.
      Way.check(outcome.out(), (long) MESSAGES / 2 * ArtemisMessages.BYTES);
      if (SimulatedAdapter.isLoaded()) {
        assertThat(outcome.out()).contains(ArtemisMessages.RESUMED + 1);
      }
      assertThat(broker.isAlive()).isTrue();
    }
  }
}
