package org.rdma4j.bench.posts;

import java.util.concurrent.CountDownLatch;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.PreparedSends;

/** Posts a prepared send and polls its completion in a compiled loop, until the queue is closed. */
final class PreparedSpinner implements Runnable {
  private static final int WARM_UPS = 2_000;
  private static final long SHORT_SPIN = 100;

  /** So many posts take seconds, which is noticed if no safepoint can be reached before the end. */
  private static final long LONG_SPIN = 1L << 28;

  private final PreparedSends sends;
  private final Completions completions;
  private final CountDownLatch warm;

  PreparedSpinner(PreparedSends sends, Completions completions, CountDownLatch warm) {
    this.sends = sends;
    this.completions = completions;
    this.warm = warm;
  }

  @Override
  public void run() {
    try {
      for (int i = 0; i < WARM_UPS; i++) {
        spin(SHORT_SPIN);
      }
      warm.countDown();
      while (true) {
        spin(LONG_SPIN);
      }
    } catch (IllegalStateException closed) {
      // Closing the queue is how this task ends.
    }
  }

  private void spin(long posts) {
    long posted = 0;
    while (posted < posts) {
      posted += sends.id(0, posted).post();
      while (completions.poll() == 0) {
        // The adapter completes the request soon.
      }
    }
  }
}
