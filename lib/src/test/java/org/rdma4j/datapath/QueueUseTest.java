package org.rdma4j.datapath;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** When the threads that use a queue take its lock. */
final class QueueUseTest {
  private static final int ROUNDS = 200;
  private static final int POSTS = 2000;

  private final QueueUse use = new QueueUse(null);
  private final ReentrantLock lock = new ReentrantLock();

  /** What the lock protects: it is exact only if no two threads change it at a time. */
  private long posts;

  private final class Post extends HotCall {
    private final QueueUse of;
    private final Runnable body;

    Post(Runnable body) {
      this(use, body);
    }

    Post(QueueUse of, Runnable body) {
      super(new Target(of.calls(), "test", false, 0, MemorySegment.NULL));
      this.of = of;
      this.body = body;
    }

    @Override
    protected int postExtended(long requests, long badRequest) {
      if (!of.isShared()) {
        body.run();
        return 0;
      }
      lock.lock();
      try {
        body.run();
      } finally {
        lock.unlock();
      }
      return 0;
    }
  }

  private Post counting() {
    return new Post(
        () -> {
          long before = posts;
          Thread.onSpinWait();
          posts = before + 1;
        });
  }

  @Test
  void oneOwnerTakesNoLock() {
    counting().own();
    counting().own();

    assertThat(use.isShared()).isFalse();
  }

  @Test
  void twoOwnersTakeTheLock() throws Exception {
    counting().own();
    inAnotherThread(counting()::own);

    assertThat(use.isShared()).isTrue();
  }

  @Test
  void theNextOwnerTakesNoLockAfterTheFirstGaveItsCallBack() throws Exception {
    Post first = counting();
    first.own();
    first.releaseOwnership();
    inAnotherThread(counting()::own);

    assertThat(use.isShared()).isFalse();
  }

  @Test
  void ownersTakeTheLockDuringAChangeOnly() {
    counting().own();
    AtomicBoolean during = new AtomicBoolean();
    use.whileShared(() -> during.set(use.isShared()));

    assertThat(during).isTrue();
    assertThat(use.isShared()).isFalse();
  }

  @Test
  void aNewOwnerWaitsUntilTheFirstHasLeftTheCallThatItMakesWithoutTheLock() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    Post first =
        new Post(
            () -> {
              inside.countDown();
              awaitUninterruptibly(leave);
            });
    FutureTask<Void> posting = start(() -> first.post(0, 0));
    assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
    FutureTask<Void> second = start(counting()::own);
    FutureTask<Void> third = start(counting()::own);
    FutureTask<Void> change = start(() -> use.whileShared(() -> {}));
    Thread.sleep(50);
    assertThat(List.of(second.isDone(), third.isDone(), change.isDone())).containsOnly(false);
    leave.countDown();
    for (FutureTask<Void> each : List.of(posting, second, third, change)) {
      each.get(30, TimeUnit.SECONDS);
    }
  }

  /** Each of two threads owns a call of one queue, and becomes an owner of one of the other. */
  @Test
  void threadsThatBeginToUseTheQueuesOfEachOtherDoNotWaitForEachOther() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      List<QueueUse> uses = List.of(new QueueUse(null), new QueueUse(null));
      CyclicBarrier barrier = new CyclicBarrier(2);
      List<FutureTask<Void>> threads = new ArrayList<>();
      for (int thread = 0; thread < 2; thread++) {
        Post own = new Post(uses.get(thread), () -> {});
        Post ofOther = new Post(uses.get(1 - thread), () -> {});
        threads.add(
            start(
                () -> {
                  own.post(0, 0);
                  await(barrier);
                  ofOther.post(0, 0);
                }));
      }
      for (FutureTask<Void> each : threads) {
        each.get(30, TimeUnit.SECONDS);
      }
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException | BrokenBarrierException | TimeoutException failed) {
      throw new AssertionError(failed);
    }
  }

  /** Two threads post, each with a call that it gives back often, while a third makes changes. */
  @Test
  void noTwoThreadsAreInsideAtATime() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      posts = 0;
      List<FutureTask<Void>> threads = new ArrayList<>();
      for (int thread = 0; thread < 2; thread++) {
        Post post = counting();
        threads.add(
            start(
                () -> {
                  for (int i = 0; i < POSTS; i++) {
                    post.post(0, 0);
                    if (i % 500 == 499) {
                      post.releaseOwnership();
                    }
                  }
                }));
      }
      threads.add(start(this::change));
      for (FutureTask<Void> each : threads) {
        each.get(30, TimeUnit.SECONDS);
      }
      assertThat(posts).isEqualTo(2 * POSTS + 10);
    }
  }

  private void change() {
    for (int i = 0; i < 10; i++) {
      use.whileShared(
          () -> {
            lock.lock();
            try {
              posts++;
            } finally {
              lock.unlock();
            }
          });
    }
  }

  private static FutureTask<Void> start(Runnable body) {
    FutureTask<Void> task = new FutureTask<>(body, null);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  private static void inAnotherThread(Runnable body) throws Exception {
    start(body).get(30, TimeUnit.SECONDS);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }
}
