package org.rdma4j.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.platform.SharedPolling.Waiters;

/** Threads that wait for numbers, which a queue in place of a device supplies. */
final class SharedPollingTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Duration SHORT = Duration.ofMillis(100);

  /** A number that adds to the stock, of which several threads take. */
  private static final int STOCK = 1000;

  private final ReentrantLock lock = new ReentrantLock();
  private final BlockingQueue<Supplier<Integer>> coming = new LinkedBlockingQueue<>();
  private final AtomicInteger fetching = new AtomicInteger();
  private final AtomicInteger maxFetching = new AtomicInteger();
  private final AtomicInteger fetches = new AtomicInteger();
  private final AtomicInteger endedTurns = new AtomicInteger();
  private final SharedPolling<Optional<Integer>> polling = new SharedPolling<>(lock, new Numbers());

  /* All below is guarded by the lock. */
  private final Map<Integer, Waiters> waiters = new HashMap<>();
  private final Set<Integer> delivered = new HashSet<>();
  private boolean closed;
  private int stock;

  private final class Numbers implements SharedPolling.Source<Optional<Integer>> {
    @Override
    public Optional<Integer> fetch(Deadline deadline) throws InterruptedException {
      assertThat(lock.isHeldByCurrentThread()).isFalse();
      fetches.incrementAndGet();
      maxFetching.accumulateAndGet(fetching.incrementAndGet(), Math::max);
      try {
        return Optional.ofNullable(coming.poll(deadline.nanos(), TimeUnit.NANOSECONDS))
            .map(Supplier::get);
      } finally {
        fetching.decrementAndGet();
      }
    }

    @Override
    public void deliver(Optional<Integer> number) {
      assertThat(lock.isHeldByCurrentThread()).isTrue();
      number.ifPresent(
          arrived -> {
            if (arrived < 0) {
              throw new IllegalArgumentException("number is " + arrived);
            }
            if (arrived == STOCK) {
              stock++;
            } else {
              delivered.add(arrived);
            }
            waiters(arrived).wakeOne();
          });
    }

    @Override
    public void endTurn() {
      assertThat(lock.isHeldByCurrentThread()).isTrue();
      endedTurns.incrementAndGet();
    }
  }

  private Waiters waiters(int number) {
    return waiters.computeIfAbsent(number, any -> polling.newWaiters());
  }

  private void arrive(int number) {
    coming.add(() -> number);
  }

  private void fail(String message) {
    coming.add(
        () -> {
          throw new IllegalStateException(message);
        });
  }

  /** Whether the number was delivered in time, and not whether all was closed. */
  private boolean await(int number, Duration timeout) throws InterruptedException {
    lock.lock();
    try {
      return polling.await(
              waiters(number), () -> delivered.contains(number) || closed, Deadline.after(timeout))
          && delivered.contains(number);
    } finally {
      lock.unlock();
    }
  }

  private FutureTask<Boolean> start(int number, Duration timeout) {
    return start(Thread.ofPlatform().daemon(), number, timeout);
  }

  private FutureTask<Boolean> start(Thread.Builder threads, int number, Duration timeout) {
    FutureTask<Boolean> task = new FutureTask<>(() -> await(number, timeout));
    threads.start(task);
    return task;
  }

  private static boolean get(FutureTask<Boolean> wait) throws Exception {
    return wait.get(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  private void awaitFetching() throws InterruptedException {
    while (fetching.get() == 0) {
      Thread.sleep(1);
    }
  }

  private void awaitWaiting(int number) throws InterruptedException {
    boolean waits = false;
    while (!waits) {
      Thread.sleep(1);
      lock.lock();
      try {
        waits = !waiters(number).isEmpty();
      } finally {
        lock.unlock();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneThreadFetchesForAll(boolean virtual) throws Exception {
    List<Integer> numbers = new ArrayList<>();
    List<FutureTask<Boolean>> waits = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      numbers.add(i);
      waits.add(start(virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon(), i, LONG));
    }
    Collections.shuffle(numbers);
    numbers.forEach(this::arrive);
    for (FutureTask<Boolean> wait : waits) {
      assertThat(get(wait)).isTrue();
    }
    assertThat(maxFetching).hasValue(1);
    assertThat(endedTurns).hasValue(fetches.get());
  }

  @Test
  void whatWasDeliveredBeforeIsNotFetchedFor() throws Exception {
    arrive(1);
    assertThat(await(1, LONG)).isTrue();
    assertThat(await(1, Duration.ZERO)).isTrue();
    assertThat(fetches).hasValue(1);
  }

  @Test
  void aTimeoutOfZeroFetchesOnce() throws Exception {
    arrive(1);
    assertThat(await(1, Duration.ZERO)).isTrue();
    assertThat(await(2, Duration.ZERO)).isFalse();
    assertThat(fetches).hasValue(2);
  }

  @Test
  void aFetchingThreadEndsAtItsTimeout() throws Exception {
    long start = System.nanoTime();
    assertThat(await(1, SHORT)).isFalse();
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT.toNanos());
  }

  @Test
  void aSleepingThreadEndsAtItsTimeout() throws Exception {
    FutureTask<Boolean> first = start(1, LONG);
    awaitFetching();
    long start = System.nanoTime();
    assertThat(await(2, SHORT)).isFalse();
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(SHORT.toNanos());
    arrive(1);
    assertThat(get(first)).isTrue();
    assertThat(maxFetching).hasValue(1);
  }

  @Test
  void anotherThreadTakesOverWhenTheFetchingOneHasWhatItWaitedFor() throws Exception {
    FutureTask<Boolean> first = start(1, LONG);
    awaitFetching();
    FutureTask<Boolean> second = start(2, LONG);
    FutureTask<Boolean> third = start(3, LONG);
    awaitWaiting(2);
    awaitWaiting(3);
    arrive(1);
    assertThat(get(first)).isTrue();
    arrive(3);
    assertThat(get(third)).isTrue();
    arrive(2);
    assertThat(get(second)).isTrue();
    assertThat(maxFetching).hasValue(1);
  }

  @Test
  void anotherThreadTakesOverWhenTheFetchingOneTimesOut() throws Exception {
    FutureTask<Boolean> first = start(1, SHORT);
    awaitFetching();
    FutureTask<Boolean> second = start(2, LONG);
    assertThat(get(first)).isFalse();
    arrive(2);
    assertThat(get(second)).isTrue();
  }

  @Test
  void anotherThreadTakesOverWhenTheFetchingOneIsInterrupted() throws Exception {
    FutureTask<Boolean> first = new FutureTask<>(() -> await(1, LONG));
    Thread thread = Thread.ofPlatform().daemon().start(first);
    awaitFetching();
    FutureTask<Boolean> second = start(2, LONG);
    awaitWaiting(2);
    thread.interrupt();
    assertThatThrownBy(() -> get(first))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(InterruptedException.class);
    arrive(2);
    assertThat(get(second)).isTrue();
    assertThat(endedTurns).hasValue(fetches.get());
  }

  @Test
  void anInterruptEndsTheWaitOfASleepingThread() throws Exception {
    FutureTask<Boolean> first = start(1, LONG);
    awaitFetching();
    FutureTask<Boolean> second = new FutureTask<>(() -> await(2, LONG));
    Thread thread = Thread.ofPlatform().daemon().start(second);
    awaitWaiting(2);
    thread.interrupt();
    assertThatThrownBy(() -> get(second)).hasCauseInstanceOf(InterruptedException.class);
    arrive(1);
    assertThat(get(first)).isTrue();
  }

  @Test
  void aFailedFetchEndsTheWaitOfItsThreadAlone() throws Exception {
    FutureTask<Boolean> first = start(1, LONG);
    awaitFetching();
    FutureTask<Boolean> second = start(2, LONG);
    awaitWaiting(2);
    fail("overrun");
    assertThatThrownBy(() -> get(first))
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("overrun");
    arrive(2);
    assertThat(get(second)).isTrue();
    assertThat(lock.isLocked()).isFalse();
    assertThat(endedTurns).hasValue(fetches.get());
  }

  @Test
  void aFailedDeliveryEndsTheWaitOfItsThreadAlone() throws Exception {
    FutureTask<Boolean> first = start(1, LONG);
    awaitFetching();
    FutureTask<Boolean> second = start(2, LONG);
    awaitWaiting(2);
    arrive(-1);
    assertThatThrownBy(() -> get(first))
        .hasCauseInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("number is -1");
    arrive(2);
    assertThat(get(second)).isTrue();
    assertThat(endedTurns).hasValue(fetches.get());
  }

  @Test
  void aCloseEndsAllWaits() throws Exception {
    FutureTask<Boolean> first = start(1, Duration.ofSeconds(1));
    awaitFetching();
    FutureTask<Boolean> second = start(2, LONG);
    FutureTask<Boolean> third = start(2, LONG);
    awaitWaiting(2);
    lock.lock();
    try {
      closed = true;
      polling.wakeAll();
    } finally {
      lock.unlock();
    }
    assertThat(get(second)).isFalse();
    assertThat(get(third)).isFalse();
    assertThat(first.isDone()).isFalse();
    assertThat(get(first)).isFalse();
  }

  @Test
  void threadsThatWaitForTheSameThingTakeOneEach() throws Exception {
    List<FutureTask<Boolean>> takers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      FutureTask<Boolean> taker = new FutureTask<>(this::takeFromStock);
      Thread.ofVirtual().start(taker);
      takers.add(taker);
    }
    for (int i = 0; i < takers.size(); i++) {
      arrive(STOCK);
    }
    for (FutureTask<Boolean> taker : takers) {
      assertThat(get(taker)).isTrue();
    }
    assertThat(stock).isZero();
    assertThat(waiters(STOCK).isEmpty()).isTrue();
    assertThat(maxFetching).hasValue(1);
  }

  private boolean takeFromStock() throws InterruptedException {
    lock.lock();
    try {
      boolean available = polling.await(waiters(STOCK), () -> stock > 0, Deadline.after(LONG));
      stock--;
      return available;
    } finally {
      lock.unlock();
    }
  }
}
