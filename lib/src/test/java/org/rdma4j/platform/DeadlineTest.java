package org.rdma4j.platform;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class DeadlineTest {
  @Test
  void aNegativeTimeoutIsRefused() {
    assertThatThrownBy(() -> Deadline.after(Duration.ofNanos(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("timeout is -1 ns, must not be negative");
  }
}
