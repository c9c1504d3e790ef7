package org.rdma4j.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Work that blocks: in as few threads as it needs at the same time, and never in more. */
final class BlockingWorkTest {
  private static final int SECONDS = 60;

  private final BlockingWork work = new BlockingWork("blocking-work-test", 3);
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private final CountDownLatch free = new CountDownLatch(1);

  @AfterEach
  void close() {
    free.countDown();
    work.close();
  }

  private void block() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    var unused =
        work.run(
            () -> {
              threads.add(Thread.currentThread());
              begun.countDown();
              awaitFree();
            });
    assertThat(begun.await(SECONDS, TimeUnit.SECONDS)).isTrue();
  }

  private void awaitFree() {
    try {
      assertThat(free.await(SECONDS, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  private CompletableFuture<Void> noteThread() {
    return work.run(() -> threads.add(Thread.currentThread()));
  }

  @Test
  void shortWorkInARowTakesFewThreads() throws Exception {
    BlockingWork many = new BlockingWork("blocking-work-test", 500);
    for (int i = 0; i < 500; i++) {
      many.run(() -> threads.add(Thread.currentThread())).get(SECONDS, TimeUnit.SECONDS);
    }
    many.close();
    // Now and then a thread has not come back when the next work arrives.
    assertThat(threads).hasSizeLessThan(50);
  }

  @Test
  void workThatBlocksDoesNotHoldUpOther() throws Exception {
    block();
    block();
    noteThread().get(SECONDS, TimeUnit.SECONDS);
    assertThat(threads).hasSize(3);
  }

  @Test
  void workWaitsIfAllThreadsBlock() throws Exception {
    block();
    block();
    block();
    CompletableFuture<Void> next = noteThread();
    assertThat(next).isNotDone();
    free.countDown();
    next.get(SECONDS, TimeUnit.SECONDS);
    assertThat(threads).hasSize(3);
  }

  @Test
  void aFailureIsReportedAndAnInterruptForgotten() throws Exception {
    IllegalArgumentException failure = new IllegalArgumentException("expected");
    CompletableFuture<Void> failed =
        work.run(
            () -> {
              Thread.currentThread().interrupt();
              throw failure;
            });
    assertThatThrownBy(() -> failed.get(SECONDS, TimeUnit.SECONDS)).hasCause(failure);
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    work.run(() -> interrupted.complete(Thread.currentThread().isInterrupted()))
        .get(SECONDS, TimeUnit.SECONDS);
    assertThat(interrupted.get()).isFalse();
  }

  @Test
  void whatIsQueuedIsDoneAfterTheClose() throws Exception {
    block();
    block();
    block();
    CompletableFuture<Void> queued = noteThread();
    work.close();
    CompletableFuture<Void> late = noteThread();
    late.get(SECONDS, TimeUnit.SECONDS);
    free.countDown();
    queued.get(SECONDS, TimeUnit.SECONDS);
  }
}
