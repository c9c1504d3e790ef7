package org.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LatencySamplesTest {
  private static final Clock CLOCK =
      new Clock(
          new Settings.Draft(Program.SEND_LAT, IllegalStateException::new).settings(),
          messages -> {});

  @Test
  void messagesBeforeTheMeasurementDoNotCount() {
    LatencySamples samples = new LatencySamples(5, 2, CLOCK);
    for (int i = 0; i < 5; i++) {
      samples.send();
    }
    assertThat(samples.intervals()).hasSize(2);
  }

  @Test
  void aTestThatEndsBeforeTheMeasurementHasNoTimes() {
    LatencySamples samples = new LatencySamples(5, 2, CLOCK);
    samples.send();
    assertThat(samples.intervals()).isEmpty();
  }

  @Test
  void intervalsAreThoseBetweenTheMessagesThatCount() throws InterruptedException {
    LatencySamples samples = new LatencySamples(3, 1, CLOCK);
    samples.send();
    Thread.sleep(50);
    long begin = System.nanoTime();
    samples.send();
    samples.send();
    long end = System.nanoTime();
    assertThat(samples.intervals()).hasSize(1);
    assertThat(samples.intervals()[0]).isBetween(0L, end - begin);
  }
}
