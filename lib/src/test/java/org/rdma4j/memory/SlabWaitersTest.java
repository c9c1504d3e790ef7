package org.rdma4j.memory;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.platform.Deadline;

/** Waiting for a slab; no device is needed for that. */
final class SlabWaitersTest {
  private static final Duration LONG = Duration.ofSeconds(60);

  private final AtomicBoolean closed = new AtomicBoolean();

  private int acquire(FreeSlabs slabs, Duration timeout) throws InterruptedException {
    return slabs
        .waiters()
        .acquire(
            slabs,
            Deadline.after(timeout),
            () -> {
              if (closed.get()) {
                throw new IllegalStateException("closed");
              }
            });
  }

  private static void release(FreeSlabs slabs, int index) {
    assertThat(slabs.end(index, slabs.turn(index))).isTrue();
    slabs.giveBack(index);
  }

  /** A thread that acquires a slab; virtual threads must be able to wait too. */
  private final class Waiter {
    final FutureTask<Integer> result;
    final Thread thread;

    Waiter(FreeSlabs slabs, Duration timeout, boolean virtual) {
      result = new FutureTask<>(() -> acquire(slabs, timeout));
      thread =
          virtual ? Thread.ofVirtual().start(result) : Thread.ofPlatform().daemon().start(result);
    }

    void awaitWaiting() throws InterruptedException {
      while (thread.getState() != Thread.State.TIMED_WAITING) {
        assertThat(result).isNotDone();
        Thread.sleep(1);
      }
    }

    int get() throws Exception {
      return result.get(100, TimeUnit.SECONDS);
    }
  }

  private static FreeSlabs noneOf(int count) {
    FreeSlabs slabs = new FreeSlabs(count);
    for (int i = 0; i < count; i++) {
      assertThat(slabs.tryAcquire()).isNotEqualTo(FreeSlabs.NONE);
    }
    return slabs;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aReleaseEndsAWait(boolean virtual) throws Exception {
    FreeSlabs slabs = noneOf(3);
    Waiter waiter = new Waiter(slabs, LONG, virtual);
    waiter.awaitWaiting();
    assertThat(slabs.waiters().anyWaiting()).isTrue();
    release(slabs, 1);
    assertThat(waiter.get()).isEqualTo(1);
    assertThat(slabs.waiters().anyWaiting()).isFalse();
    assertThat(slabs.free()).isZero();
  }

  @Test
  void aFreeSlabIsTakenWithoutWaiting() throws Exception {
    FreeSlabs slabs = new FreeSlabs(1);
    assertThat(acquire(slabs, Duration.ZERO)).isZero();
    assertThat(slabs.waiters().anyWaiting()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 50})
  void theWaitEndsWithItsTimeout(int millis) throws Exception {
    FreeSlabs slabs = noneOf(1);
    long begun = System.nanoTime();
    assertThat(acquire(slabs, Duration.ofMillis(millis))).isEqualTo(FreeSlabs.NONE);
    assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(millis * 1_000_000L);
    assertThat(slabs.waiters().anyWaiting()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anInterruptEndsAWaitAndTheNextThreadGetsTheSlab(boolean virtual) throws Exception {
    FreeSlabs slabs = noneOf(1);
    Waiter interrupted = new Waiter(slabs, LONG, virtual);
    interrupted.awaitWaiting();
    Waiter next = new Waiter(slabs, LONG, virtual);
    next.awaitWaiting();
    interrupted.thread.interrupt();
    assertThatThrownBy(interrupted::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(InterruptedException.class);
    assertThat(slabs.waiters().anyWaiting()).isTrue();
    release(slabs, 0);
    assertThat(next.get()).isZero();
  }

  @Test
  void aThreadThatIsInterruptedDoesNotWait() {
    FreeSlabs slabs = noneOf(1);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> acquire(slabs, LONG)).isInstanceOf(InterruptedException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    assertThat(slabs.waiters().anyWaiting()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCloseEndsAllWaits(boolean virtual) throws Exception {
    FreeSlabs slabs = noneOf(1);
    List<Waiter> waiters = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      Waiter waiter = new Waiter(slabs, LONG, virtual);
      waiter.awaitWaiting();
      waiters.add(waiter);
    }
    closed.set(true);
    slabs.waiters().wakeAll();
    for (Waiter waiter : waiters) {
      assertThatThrownBy(waiter::get).hasRootCauseMessage("closed");
    }
    assertThat(slabs.waiters().anyWaiting()).isFalse();
  }

  @Test
  void waitingThreadsAreServedInTheirOrder() throws Exception {
    FreeSlabs slabs = noneOf(1);
    Deque<Waiter> waiters = new ArrayDeque<>();
    for (int i = 0; i < 4; i++) {
      Waiter waiter = new Waiter(slabs, LONG, i % 2 == 0);
      waiter.awaitWaiting();
      waiters.add(waiter);
    }
    while (!waiters.isEmpty()) {
      release(slabs, 0);
      assertThat(requireNonNull(waiters.poll()).get()).isZero();
      assertThat(waiters).noneMatch(waiter -> waiter.result.isDone());
    }
  }

  /** More virtual threads wait than there are carriers, and the release comes from one more. */
  @Test
  void waitingVirtualThreadsDoNotOccupyTheirCarriers() throws Exception {
    FreeSlabs slabs = noneOf(1);
    List<Waiter> waiters = new ArrayList<>();
    for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
      Waiter waiter = new Waiter(slabs, LONG, true);
      waiter.awaitWaiting();
      waiters.add(waiter);
    }
    Thread.ofVirtual().start(() -> release(slabs, 0)).join();
    for (Waiter waiter : waiters) {
      release(slabs, waiter.get());
    }
    assertThat(slabs.free()).isEqualTo(1);
  }

  /**
   * Threads wait for slabs of which there are too few, hold them for a moment, and sometimes are
   * interrupted or time out. If a release were missed, a wait of a minute would end without a slab.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void manyThreadsNeverShareASlabAndMissNoRelease(boolean virtual) throws Exception {
    int count = 2;
    FreeSlabs slabs = new FreeSlabs(count);
    AtomicIntegerArray holders = new AtomicIntegerArray(count);
    List<FutureTask<Void>> tasks = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Random random = new Random(i);
      FutureTask<Void> task =
          new FutureTask<>(
              () -> {
                for (int round = 0; round < 2000; round++) {
                  useOne(slabs, holders, random);
                }
                return null;
              });
      tasks.add(task);
      threads.add(
          virtual ? Thread.ofVirtual().start(task) : Thread.ofPlatform().daemon().start(task));
    }
    Random random = new Random(99);
    while (tasks.stream().anyMatch(task -> !task.isDone())) {
      threads.get(random.nextInt(threads.size())).interrupt();
      Thread.sleep(1);
    }
    for (FutureTask<Void> task : tasks) {
      task.get(100, TimeUnit.SECONDS);
    }
    assertThat(slabs.free()).isEqualTo(count);
    assertThat(slabs.waiters().anyWaiting()).isFalse();
  }

  private void useOne(FreeSlabs slabs, AtomicIntegerArray holders, Random random) {
    boolean mayTimeOut = random.nextInt(4) == 0;
    int index;
    try {
      index = acquire(slabs, mayTimeOut ? Duration.ofNanos(random.nextInt(100_000)) : LONG);
    } catch (InterruptedException interrupted) {
      return;
    }
    if (index == FreeSlabs.NONE) {
      assertThat(mayTimeOut).as("a wait of a minute may end without a slab").isTrue();
      return;
    }
    assertThat(holders.incrementAndGet(index)).isEqualTo(1);
    if (random.nextBoolean()) {
      LockSupport.parkNanos(1000);
    }
    holders.decrementAndGet(index);
    release(slabs, index);
  }
}
