package org.rdma4j.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;

class SpinTest {
  private final Semaphore processors = new Semaphore(1);
  private final Spin spin = new Spin(processors, 1_000);
  private int polls;

  @Test
  void findsWhatComesAfterAFewPolls() {
    Spin patient = new Spin(processors, Duration.ofMinutes(1).toNanos());
    assertThat(patient.until(later(), () -> ++polls == 3 ? 42 : 0)).isEqualTo(42);
    assertThat(polls).isEqualTo(3);
  }

  @Test
  void givesUpBeforeTheDeadline() {
    long end = later();
    assertThat(spin.until(end, this::poll)).isZero();
    assertThat(polls).isPositive();
    assertThat(System.nanoTime() - end).isNegative();
  }

  @Test
  void doesNotPollAfterTheDeadline() {
    assertThat(spin.until(System.nanoTime(), this::poll)).isZero();
    assertThat(polls).isZero();
  }

  @Test
  void fromTheFourthFailureOnEachFailureDoublesTheSkippedSpinsUpTo64() {
    for (int expected : new int[] {0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 64}) {
      assertThat(skippedBeforeTheNextFailure()).isEqualTo(expected);
    }
  }

  @Test
  void afterASuccessNoSpinIsSkipped() {
    for (int i = 0; i < 5; i++) {
      skippedBeforeTheNextFailure();
    }
    assertThat(spin.until(later(), () -> 1)).isZero();
    assertThat(spin.until(later(), () -> 1)).isZero();
    assertThat(spin.until(later(), () -> 1)).isEqualTo(1);
    for (int i = 0; i < 4; i++) {
      assertThat(skippedBeforeTheNextFailure()).isZero();
    }
    assertThat(skippedBeforeTheNextFailure()).isEqualTo(1);
  }

  @Test
  void doesNotSpinIfAllProcessorsAreTaken() {
    assertThat(
            spin.until(later(), () -> 1 + new Spin(processors, 1_000).until(later(), this::poll)))
        .isEqualTo(1);
    assertThat(polls).isZero();
  }

  @Test
  void aPollThatThrowsReleasesItsProcessor() {
    assertThatThrownBy(
            () ->
                spin.until(
                    later(),
                    () -> {
                      throw new IllegalStateException("closed");
                    }))
        .hasMessage("closed");
    assertThat(processors.availablePermits()).isEqualTo(1);
  }

  @Test
  void aVirtualThreadDoesNotSpin() throws InterruptedException {
    Thread.ofVirtual().start(() -> spin.until(later(), this::poll)).join();
    assertThat(polls).isZero();
  }

  private int skippedBeforeTheNextFailure() {
    int before = polls;
    int calls = 0;
    for (; polls == before; calls++) {
      spin.until(later(), this::poll);
    }
    return calls - 1;
  }

  private int poll() {
    polls++;
    return 0;
  }

  private static long later() {
    return System.nanoTime() + Duration.ofMinutes(1).toNanos();
  }
}
