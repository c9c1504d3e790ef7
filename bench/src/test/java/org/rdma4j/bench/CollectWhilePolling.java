package org.rdma4j.bench;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.rdma4j.verbs.CallStyle;
import org.rdma4j.verbs.Completions;

/** Collects garbage while a thread spins on an empty queue; prints the median and the maximum. */
final class CollectWhilePolling {
  private static final int COLLECTIONS = 11;

  private CollectWhilePolling() {}

  public static void main(String[] arguments) throws InterruptedException {
    try (StandIn standIn = StandIn.open(StandIn.FAST, CallStyle.CRITICAL)) {
      Completions completions = standIn.completionQueue().completions(1);
      Thread poller = new Thread(() -> spin(completions));
      poller.setDaemon(true);
      poller.start();
      // Until the loop is compiled by C2, which takes the safepoint out of it.
      TimeUnit.SECONDS.sleep(2);
      long[] millis = new long[COLLECTIONS];
      for (int i = 0; i < COLLECTIONS; i++) {
        long begin = System.nanoTime();
        System.gc();
        millis[i] = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
      }
      Arrays.sort(millis);
      System.out.println(millis[COLLECTIONS / 2] + " " + millis[COLLECTIONS - 1]);
    }
  }

  private static void spin(Completions completions) {
    try {
      // Rounds end, so that the loop is entered compiled; they are long against a collection.
      while (poll(completions) >= 0) {
        Thread.onSpinWait();
      }
    } catch (IllegalStateException closed) {
      // The end.
    }
  }

  private static long poll(Completions completions) {
    long polls = 0;
    while (completions.poll() == 0 && polls < 1L << 32) {
      polls++;
    }
    return polls;
  }
}
