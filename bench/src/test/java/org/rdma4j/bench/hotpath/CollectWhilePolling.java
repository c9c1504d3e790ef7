package org.rdma4j.bench.hotpath;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.rdma4j.bench.measuring.EmptyQueueSpinner;
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.verbs.CallStyle;
import org.rdma4j.verbs.Completions;

/** Collects garbage while a thread spins on an empty queue; prints the median and longest time. */
final class CollectWhilePolling {
  private static final int COLLECTIONS = 11;

  private CollectWhilePolling() {}

  public static void main(String[] arguments) throws InterruptedException {
    try (StandIn standIn = StandIn.open(StandIn.FAST, CallStyle.CRITICAL)) {
      Completions completions = standIn.completionQueue().completions(1);
      CountDownLatch warm = new CountDownLatch(1);
      Thread poller = new Thread(new EmptyQueueSpinner(completions, warm));
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
}
