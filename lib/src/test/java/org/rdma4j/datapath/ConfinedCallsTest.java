package org.rdma4j.datapath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Queues for which the provider takes no locks: one thread at a time, and pauses. */
final class ConfinedCallsTest {
  private static final int ROUNDS = 2_000;
  private static final int PAUSED = -1;

  private final ThreadConfinement confinement = new ThreadConfinement("thread domain 7");

  /** A poll that notes whether it came during a call that changes the queue. */
  private static final class Poll extends HotCall {
    private final PollPause pause;
    private volatile boolean changing;
    private final AtomicInteger begun = new AtomicInteger();
    private boolean metAChange;

    Poll(HotCalls calls) {
      super(new Target(calls, "poll", false, 0, MemorySegment.NULL));
      this.pause = new PollPause(calls);
    }

    @Override
    protected int pollExtended(int max, long completions) {
      if (pause.isPaused()) {
        return PAUSED;
      }
      begun.incrementAndGet();
      for (int look = 0; look < 100; look++) {
        metAChange |= changing;
        Thread.onSpinWait();
      }
      return 0;
    }

    int poll() {
      return poll(1, 0);
    }
  }

  private Poll confined() {
    return new Poll(new HotCalls(confinement));
  }

  private static <T> T elsewhere(Callable<T> body) throws Exception {
    FutureTask<T> task = new FutureTask<>(body);
    Thread.ofPlatform().name("elsewhere").start(task);
    return task.get(30, TimeUnit.SECONDS);
  }

  @Test
  void oneThreadOwnsAllCallsOfAConfinement() throws Exception {
    Poll first = confined();
    Poll second = confined();
    first.poll();
    assertThatThrownBy(() -> elsewhere(second::poll))
        .hasCauseInstanceOf(IllegalStateException.class)
        .hasMessageContaining("thread domain 7 belongs to thread")
        .hasMessageContaining("was used by \"elsewhere\"");
    second.poll();
    first.releaseOwnership();
    assertThatThrownBy(() -> elsewhere(first::poll)).hasMessageContaining("belongs to thread");
    second.releaseOwnership();
    elsewhere(first::poll);
    assertThatThrownBy(second::poll).hasMessageContaining("belongs to thread \"elsewhere\"");
  }

  @Test
  void aRefusedThreadOwnsNothing() throws Exception {
    Poll first = confined();
    Poll second = confined();
    first.poll();
    assertThatThrownBy(() -> elsewhere(second::poll)).hasMessageContaining("belongs to thread");
    first.releaseOwnership();
    second.poll();
  }

  @Test
  void aCallOfAClosedQueueBelongsToNoThread() throws Exception {
    HotCalls calls = new HotCalls(confinement);
    new Poll(calls).poll();
    Poll other = confined();
    assertThatThrownBy(() -> elsewhere(other::poll)).hasMessageContaining("belongs to thread");
    calls.revoke();
    elsewhere(other::poll);
  }

  @Test
  void anUnreachableCallBelongsToNoThread() throws Exception {
    Poll other = confined();
    confined().poll();
    for (int i = 0; i < 100; i++) {
      System.gc();
      try {
        elsewhere(other::poll);
        return;
      } catch (ExecutionException stillOwned) {
        Thread.sleep(10);
      }
    }
    throw new AssertionError("an unreachable call keeps its thread");
  }

  @Test
  void noThreadPollsDuringAPause() throws Exception {
    Poll poll = new Poll(new HotCalls());
    CountDownLatch polling = new CountDownLatch(1);
    boolean[] done = {false};
    FutureTask<Integer> poller =
        new FutureTask<>(
            () -> {
              int pauses = 0;
              while (!done[0]) {
                if (poll.poll() == PAUSED) {
                  poll.pause.awaitEnd();
                  pauses++;
                }
                polling.countDown();
                Thread.onSpinWait();
              }
              return pauses;
            });
    Thread.ofPlatform().start(poller);
    assertThat(polling.await(30, TimeUnit.SECONDS)).isTrue();
    for (int round = 0; round < ROUNDS; round++) {
      int before = poll.begun.get();
      while (poll.begun.get() == before) {
        Thread.onSpinWait();
      }
      PollPause.whilePaused(
          List.of(poll.pause),
          () -> {
            poll.changing = true;
            for (int wait = 0; wait < 100; wait++) {
              Thread.onSpinWait();
            }
            poll.changing = false;
            return true;
          });
    }
    done[0] = true;
    poller.get(30, TimeUnit.SECONDS);
    assertThat(poll.metAChange).as("polled during a change").isFalse();
  }

  @Test
  void aThreadCannotWaitForItsOwnPause() {
    PollPause pause = new PollPause(new HotCalls());
    assertThatThrownBy(
            () ->
                pause.whilePaused(
                    () -> {
                      pause.whilePaused(() -> true);
                      assertThat(pause.isPaused()).isTrue();
                      pause.awaitEnd();
                      return true;
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot poll meanwhile");
    assertThat(pause.isPaused()).isFalse();
    pause.awaitEnd();
  }

  @Test
  void pausesOfTwoQueuesInAnyOrderDoNotBlockEachOther() throws Exception {
    PollPause first = new PollPause(new HotCalls());
    PollPause second = new PollPause(new HotCalls());
    FutureTask<Void> other = new FutureTask<>(() -> pauseOften(List.of(second, first)), null);
    Thread.ofPlatform().start(other);
    pauseOften(List.of(first, second));
    other.get(30, TimeUnit.SECONDS);
    assertThat(first.isPaused() || second.isPaused()).isFalse();
  }

  private static void pauseOften(List<PollPause> pauses) {
    for (int round = 0; round < 100_000; round++) {
      PollPause.whilePaused(pauses, () -> true);
    }
  }
}
