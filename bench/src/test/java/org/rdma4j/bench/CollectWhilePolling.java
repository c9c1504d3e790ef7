package org.rdma4j.bench;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.rdma4j.verbs.CallStyle;
import org.rdma4j.verbs.Completions;

/** Collects garbage while a thread spins on an empty queue; prints the median and the maximum. */
final class CollectWhilePolling {
  private static final int COLLECTIONS = 11;
  private static final int WARM_UPS = 20_000;
  private static final long SHORT_SPIN = 2_000;

  /** Seconds, if no collection can begin before its end. */
  private static final long LONG_SPIN = 1L << 29;

  private CollectWhilePolling() {}

  public static void main(String[] arguments) throws InterruptedException {
    try (StandIn standIn = StandIn.open(StandIn.FAST, CallStyle.CRITICAL)) {
      Completions completions = standIn.completionQueue().completions(1);
      CountDownLatch warm = new CountDownLatch(1);
      Thread poller = new Thread(() -> spinForEver(completions, warm));
      poller.setDaemon(true);
      poller.start();
      warm.await();
      long[] millis = new long[COLLECTIONS];
      for (int i = 0; i < COLLECTIONS; i++) {
        TimeUnit.MILLISECONDS.sleep(50);
        long begin = System.nanoTime();
        System.gc();
        millis[i] = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
      }
      Arrays.sort(millis);
      System.out.println(millis[COLLECTIONS / 2] + " " + millis[COLLECTIONS - 1]);
    }
  }

  private static void spinForEver(Completions completions, CountDownLatch warm) {
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

  private static long spin(Completions completions, long most) {
    long polls = 0;
    while (completions.poll() == 0 && polls < most) {
      polls++;
    }
    return polls;
  }
}
