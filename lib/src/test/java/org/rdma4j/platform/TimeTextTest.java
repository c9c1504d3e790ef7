package org.rdma4j.platform;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class TimeTextTest {
  @Test
  void aDurationIsInTheLargestUnitThatIsExact() {
    assertThat(TimeText.of(Duration.ZERO)).isEqualTo("0 s");
    assertThat(TimeText.of(Duration.ofMinutes(2))).isEqualTo("120 s");
    assertThat(TimeText.of(Duration.ofMillis(1500))).isEqualTo("1500 ms");
    assertThat(TimeText.of(Duration.ofNanos(50_000))).isEqualTo("50 us");
    assertThat(TimeText.of(Duration.ofNanos(-1))).isEqualTo("-1 ns");
  }

  @Test
  void noDurationIsTooLong() {
    assertThat(TimeText.of(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999)))
        .isEqualTo("9223372036854775807 s");
  }
}
