package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.platform.WaitSet;

/** How loops sleep, without a device. */
final class LoopWaitTest {
  private static final Duration MOMENT = Duration.ofMillis(300);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Loop ofThread = Loop.ofThread();
  private final Loop ofProgram = Loop.ofProgram();

  @AfterEach
  void close() {
    ofThread.close();
    ofProgram.close();
  }

  @Test
  void aLoopThatDoesNothingAtIntervalsSleepsUntilTimeIsUp() throws InterruptedException {
    // A thread that sleeps less takes a processor for nothing.
    long end = System.nanoTime() + MOMENT.toNanos();
    assertThat(ofThread.awaitReady(end)).isFalse();
    assertThat(System.nanoTime() - end).isNotNegative();
  }

  @Test
  void theThreadOfALoopSleepsWhileThereIsNothing() throws InterruptedException {
    AtomicInteger polls = new AtomicInteger();
    try (WaitSet nothing = new WaitSet()) {
      ofThread.add(new CountedSource(polls, nothing));
      ofThread.start("rdma4j-test");
      Thread.sleep(MOMENT);
      assertThat(polls.get()).isBetween(1, 3);
    }
  }

  @Test
  void aTickEndsTheWaitAndComesAgain() throws InterruptedException {
    AtomicInteger ticks = new AtomicInteger();
    ofProgram.atIntervals(ticks::incrementAndGet);
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (ticks.get() < 3) {
      assertThat(ofProgram.awaitReady(end)).isTrue();
      ofProgram.poll();
    }
    assertThat(System.nanoTime() - end).isNegative();
  }

  @Test
  void aWakeupOfAThreadThatSleepsIsForgottenOnceItHasWokenUp() throws InterruptedException {
    for (int i = 0; i < 50; i++) {
      Thread other = Thread.ofPlatform().start(ofProgram::wakeup);
      assertThat(ofProgram.awaitReady(System.nanoTime() + PATIENCE.toNanos())).isTrue();
      other.join();
    }
    long end = System.nanoTime() + MOMENT.toNanos();
    int early = 0;
    while (ofProgram.awaitReady(end)) {
      early++;
    }
    assertThat(early).isLessThanOrEqualTo(2);
    assertThat(System.nanoTime() - end).isNotNegative();
  }

  /** Has nothing, and counts how often it is asked. */
  private record CountedSource(AtomicInteger polls, WaitSet nothing) implements Source {
    @Override
    public int poll(int most) {
      polls.incrementAndGet();
      return 0;
    }

    @Override
    public int ask(int most) {
      return 0;
    }

    @Override
    public boolean isAsked() {
      return true;
    }

    @Override
    public void takeEvent() {}

    @Override
    public int descriptor() {
      return nothing.descriptor();
    }

    @Override
    public void failed(Throwable thrown) {
      throw new AssertionError(thrown);
    }
  }
}
