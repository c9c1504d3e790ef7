package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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
    try (EmptySource source = new EmptySource(false)) {
      ofThread.add(source);
      ofThread.start("rdma4j-test");
      Thread.sleep(MOMENT);
      assertThat(source.polls.get()).isBetween(1, 3);
      assertThat(source.failed.getCount()).isEqualTo(1);
    }
  }

  @Test
  void aWaitThatFailsEndsAllSourcesOfAThreadAndItsThread() throws InterruptedException {
    try (EmptySource first = new EmptySource(true);
        EmptySource second = new EmptySource(true)) {
      ofThread.add(first);
      ofThread.add(second);
      ofThread.start("rdma4j-broken");
      assertThat(first.failed.await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(second.failed.await(10, TimeUnit.SECONDS)).isTrue();
      long end = System.nanoTime() + PATIENCE.toNanos();
      while (Thread.getAllStackTraces().keySet().stream()
          .anyMatch(each -> each.getName().equals("rdma4j-broken"))) {
        assertThat(System.nanoTime() - end).isNegative();
        Thread.sleep(5);
      }
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

  /** Has nothing, and counts how often it is polled and how often it has failed. */
  private static final class EmptySource implements Source, AutoCloseable {
    private final WaitSet nothing = new WaitSet();
    private final AtomicInteger polls = new AtomicInteger();
    private final CountDownLatch failed = new CountDownLatch(1);
    private final boolean broken;

    EmptySource(boolean broken) {
      this.broken = broken;
    }

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
      if (broken) {
        throw new IllegalStateException("a wait that fails");
      }
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
      failed.countDown();
    }

    @Override
    public void close() {
      nothing.close();
    }
  }
}
