package org.rdma4j.datapath;

import java.util.Collection;
import java.util.Comparator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Stops the polls of a completion queue for which the provider takes no lock, during calls that
 * change what a poll uses: the destruction of a queue pair removes its completions from the queue,
 * and frees what the provider looks up for each of them.
 */
public final class PollPause {
  private static final AtomicLong PAUSES = new AtomicLong();

  /** The pauses of two queues are always made in the order of these numbers. */
  private final long number = PAUSES.incrementAndGet();

  private final HotCalls polls;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile boolean paused;

  /**
   * Creates the pause of a queue.
   *
   * @param polls all polls of the queue, each of which asks {@link #isPaused} before it calls C
   */
  public PollPause(HotCalls polls) {
    this.polls = polls;
  }

  /** Makes a call while no thread polls any of the queues. */
  public static <T extends @Nullable Object> T whilePaused(
      Collection<PollPause> pauses, Supplier<T> call) {
    Supplier<T> paused = call;
    for (PollPause each :
        pauses.stream().sorted(Comparator.comparingLong(each -> -each.number)).toList()) {
      Supplier<T> inner = paused;
      paused = () -> each.whilePaused(inner);
    }
    return paused.get();
  }

  /** Makes a call without a result while no thread polls any of the queues. */
  public static void runPaused(Collection<PollPause> pauses, Runnable call) {
    whilePaused(
        pauses,
        () -> {
          call.run();
          return call;
        });
  }

  /** Makes a call while no thread polls. */
  public <T extends @Nullable Object> T whilePaused(Supplier<T> call) {
    lock.lock();
    try {
      // A thread that becomes the owner of a poll after this finds the pause. Of the threads that
      // are owners now, those outside a poll find it when they begin one.
      paused = true;
      polls.awaitOutside();
      return call.get();
    } finally {
      paused = lock.getHoldCount() > 1;
      lock.unlock();
    }
  }

  /** Returns whether no poll may begin. To be asked inside a {@link HotCall}. */
  public boolean isPaused() {
    return paused;
  }

  /**
   * Waits until polls may begin again. Not to be called inside a {@link HotCall}.
   *
   * @throws IllegalStateException if this thread made the pause: it polls in a callback
   */
  public void awaitEnd() {
    if (lock.isHeldByCurrentThread()) {
      throw new IllegalStateException(
          "this thread is changing or destroying a queue pair of the completion queue, and cannot"
              + " poll meanwhile");
    }
    lock.lock();
    try {
      // The pause has ended, because it holds the lock as long as it lasts.
    } finally {
      lock.unlock();
    }
  }
}
