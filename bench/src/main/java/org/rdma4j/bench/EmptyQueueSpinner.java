package org.rdma4j.bench;

import java.util.concurrent.CountDownLatch;
import org.rdma4j.verbs.Completions;

/** Polls a queue where nothing comes until it is closed, in a compiled loop that has no end. */
final class EmptyQueueSpinner implements Runnable {
  private static final int WARM_UPS = 20_000;
  private static final long SHORT_SPIN = 2_000;

  /** Seconds, if no safepoint can begin before its end. */
  private static final long LONG_SPIN = 1L << 29;

  private final Completions completions;
  private final CountDownLatch warm;

  EmptyQueueSpinner(Completions completions, CountDownLatch warm) {
    this.completions = completions;
    this.warm = warm;
  }

  @Override
  public void run() {
    try {
      // A loop that C2 compiles while it runs keeps its safepoint; entered anew, it has none.
      for (int i = 0; i < WARM_UPS; i++) {
        spin(completions, SHORT_SPIN);
      }
      warm.countDown();
      while (spin(completions, LONG_SPIN) == LONG_SPIN) {
        // Again.
      }
      throw new AssertionError("a poll found something, but nothing was posted");
    } catch (IllegalStateException closed) {
      // The end.
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
