package org.rdma4j.bench.posts;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.PreparedSends;

/**
 * Collects garbage while a thread spins on an empty queue, or posts a prepared send and polls again
 * and again; prints the median and longest time.
 */
final class CollectWhilePolling {
  private static final int COLLECTIONS = 11;

  private CollectWhilePolling() {}

  /** Takes "polls" or "posts". */
  public static void main(String[] arguments) throws InterruptedException {
    try (SelfConnectedQueuePair adapter =
        new SelfConnectedQueuePair(CallStyle.CRITICAL, QueuesOfJava.PLAIN)) {
      Completions completions = adapter.completionQueue().completions(1);
      CountDownLatch warm = new CountDownLatch(1);
      Thread spinner = new Thread(spinner(arguments[0], adapter, completions, warm));
      spinner.setDaemon(true);
      spinner.start();
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

  private static Runnable spinner(
      String kind, SelfConnectedQueuePair adapter, Completions completions, CountDownLatch warm) {
    if (kind.equals("polls")) {
      return new EmptyQueueSpinner(completions, warm);
    }
    PreparedSends sends =
        adapter
            .queuePair()
            .sendRequests(1)
            .add(0)
            .from(adapter.region(), 0, SelfConnectedQueuePair.MESSAGE)
            .signaled()
            .prepare();
    return new PreparedSpinner(sends, completions, warm);
  }
}
