package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;
import org.rdma4j.testing.SimulatedAdapter;

/** A broker in one JVM, and its client in another, whose adapter breaks in the middle. */
final class BrokersTest {
  private static final int MESSAGES = 20_000;

  @Test
  void aBrokenAdapterIsNoFailureOfAConnectionToArtemis() throws Exception {
    check(ArtemisBroker.class, ArtemisMessages.class);
  }

  @Test
  void aBrokenAdapterIsNoFailureOfAConnectionToActiveMqClassic() throws Exception {
    check(ActiveMqBroker.class, ActiveMqMessages.class);
  }

  private static void check(Class<?> server, Class<?> messages) throws Exception {
    int port = FreePort.find();
    try (ChildProcess broker =
            Program.startServer(port, Program.command(server, String.valueOf(port)));
        ChildProcess client =
            ChildProcess.start(
                Program.command(messages, String.valueOf(port), String.valueOf(MESSAGES)))) {
      Outcome outcome = client.await();
      assertThat(outcome.status()).as(outcome.toString()).isZero();
      assertThat(outcome.out()).contains(NumberedBytes.RECEIVED + MESSAGES);
      // The first half of them is sent before the adapter breaks.
      Way.check(outcome.out(), (long) MESSAGES / 2 * NumberedBytes.OF_A_MESSAGE);
      if (SimulatedAdapter.isLoaded()) {
        assertThat(outcome.out()).contains(NumberedBytes.RESUMED + 1);
      }
      assertThat(broker.isAlive()).isTrue();
    }
  }
}
