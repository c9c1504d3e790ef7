package org.rdma4j.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;

class SpinTest {
  private final Semaphore processors = new Semaphore(1);
  private final Spin spin = new Spin(processors, 1_000);
  private int looks;

  @Test
  void whatComesAfterSomeLooksIsFound() {
    Spin patient = new Spin(processors, Duration.ofMinutes(1).toNanos());
    assertThat(patient.until(later(), () -> ++looks == 3 ? 42 : 0)).isEqualTo(42);
    assertThat(looks).isEqualTo(3);
  }

  @Test
  void whatDoesNotComeIsNotLookedForUntilTheEnd() {
    long end = later();
    assertThat(spin.until(end, this::count)).isZero();
    assertThat(looks).isPositive();
    assertThat(System.nanoTime() - end).isNegative();
  }

  @Test
  void nothingIsLookedForAfterTheEnd() {
    assertThat(spin.until(System.nanoTime(), this::count)).isZero();
    assertThat(looks).isZero();
  }

  @Test
  void afterEachThatIsInVainTwiceAsManyAreLeftOutFromTheFourthOnUpTo64() {
    for (int expected : new int[] {0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 64}) {
      assertThat(leftOutBeforeTheNextInVain()).isEqualTo(expected);
    }
  }

  @Test
  void onceSomethingWasFoundNoneIsLeftOut() {
    for (int i = 0; i < 5; i++) {
      leftOutBeforeTheNextInVain();
    }
    assertThat(spin.until(later(), () -> 1)).isZero();
    assertThat(spin.until(later(), () -> 1)).isZero();
    assertThat(spin.until(later(), () -> 1)).isEqualTo(1);
    for (int i = 0; i < 4; i++) {
      assertThat(leftOutBeforeTheNextInVain()).isZero();
    }
    assertThat(leftOutBeforeTheNextInVain()).isEqualTo(1);
  }

  @Test
  void nobodySpinsWhereAllProcessorsThatMayAreTaken() {
    assertThat(
            spin.until(later(), () -> 1 + new Spin(processors, 1_000).until(later(), this::count)))
        .isEqualTo(1);
    assertThat(looks).isZero();
  }

  @Test
  void aLookThatThrowsGivesItsProcessorBack() {
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
    Thread.ofVirtual().start(() -> spin.until(later(), this::count)).join();
    assertThat(looks).isZero();
  }

  private int leftOutBeforeTheNextInVain() {
    int before = looks;
    int calls = 0;
    for (; looks == before; calls++) {
      spin.until(later(), this::count);
    }
    return calls - 1;
  }

  private int count() {
    looks++;
    return 0;
  }

  private static long later() {
    return System.nanoTime() + Duration.ofMinutes(1).toNanos();
  }
}
