package org.rdma4j.interop;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;
import org.rdma4j.testing.SimulatedAdapter;

/** A broker of ActiveMQ Classic in one JVM, and its client in another. */
final class ActiveMqTest {
  private static final int MESSAGES = 20_000;

  @Test
  void aBrokenAdapterIsNoFailureOfTheConnection() throws Exception {
    int port = FreePort.find();
    try (ChildProcess broker =
            Program.startServer(port, Program.command(ActiveMqBroker.class, String.valueOf(port)));
        ChildProcess client =
            ChildProcess.start(
                Program.command(
                    ActiveMqMessages.class, String.valueOf(port), String.valueOf(MESSAGES)))) {
      Outcome outcome = client.await();
      assertThat(outcome.status()).as(outcome.toString()).isZero();
      assertThat(outcome.out()).contains(ActiveMqMessages.RECEIVED + MESSAGES);
      // The first half of them is sent before the adapter breaks.
      Way.check(outcome.out(), (long) MESSAGES / 2 * ActiveMqMessages.BYTES);
      if (SimulatedAdapter.isLoaded()) {
        assertThat(outcome.out()).contains(ActiveMqMessages.RESUMED + 1);
      }
      assertThat(broker.isAlive()).isTrue();
    }
  }
}
