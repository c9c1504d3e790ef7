package org.rdma4j.bench.posts;

import java.util.concurrent.CountDownLatch;
import org.rdma4j.verbs.Completions;

/** Polls an empty queue in a compiled loop without end, until the queue is closed. */
public final class EmptyQueueSpinner implements Runnable {
  private static final int WARM_UPS = 20_000;
  private static final long SHORT_SPIN = 2_000;

  /** So many polls take seconds, which is noticed if no safepoint can be reached before the end. */
  private static final long LONG_SPIN = 1L << 29;

  private final Completions completions;
  private final CountDownLatch warm;

  /**
   * Creates a task that polls.
   *
   * @param completions where to poll
   * @param warm is counted down when the loop has been compiled
   */
  public EmptyQueueSpinner(Completions completions, CountDownLatch warm) {
    this.completions = completions;
    this.warm = warm;
  }

  @Override
  public void run() {
    try {
      // C2 keeps the safepoint in a loop that it compiles while the loop runs, but not in a loop
      // that is entered again after it was compiled.
      for (int i = 0; i < WARM_UPS; i++) {
        spin(completions, SHORT_SPIN);
      }
      warm.countDown();
      while (spin(completions, LONG_SPIN) == LONG_SPIN) {
        // Spin again.
      }
      throw new AssertionError("a poll returned a completion, but nothing was posted");
    } catch (IllegalStateException closed) {
      // Closing the queue is how this task ends.
    }
  }

  private static long spin(Completions completions, long max) {
    long polls = 0;
    while (completions.poll() == 0 && polls < max) {
      polls++;
    }
    return polls;
  }
}
