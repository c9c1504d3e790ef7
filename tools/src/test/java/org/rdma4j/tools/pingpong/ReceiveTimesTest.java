package org.rdma4j.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReceiveTimesTest {
  private final ReceiveTimes times = new ReceiveTimes(0xff);

  @Test
  void timesBetweenReceivesAreMeasured() {
    times.add(10);
    times.add(15);
    times.add(35);
    assertThat(times.shortest()).isEqualTo(5);
    assertThat(times.longest()).isEqualTo(20);
    assertThat(times.average()).isEqualTo(12.5);
  }

  @Test
  void wrapOfTheClockIsHandled() {
    times.add(0xfe);
    times.add(0x03);
    assertThat(times.longest()).isEqualTo(5);
  }

  @Test
  void singleReceiveHasNoTimes() {
    assertThat(times.areKnown()).isFalse();
    times.add(7);
    assertThat(times.areKnown()).isFalse();
    times.add(8);
    assertThat(times.areKnown()).isTrue();
  }
}
