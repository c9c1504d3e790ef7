package org.rdma4j.memory;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/** What the calling thread allocates while it does something again and again. */
final class Allocation {
  private static final int ROUNDS = 20;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private Allocation() {}

  /**
   * Returns the least that one of many rounds allocates, in bytes. Some rounds allocate what has
   * nothing to do with the code: when a method becomes hot, the JVM creates the string constants of
   * its class, in the thread that has called it, and it is unknown in which round that is. Code
   * that allocates does so in every round, if a round has many operations.
   *
   * @param round does something many times; its results are added, so that it is not left out
   */
  static long least(LongSupplier round) {
    long sum = 0;
    long least = Long.MAX_VALUE;
    for (int i = 0; i < ROUNDS; i++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      sum += round.getAsLong();
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }
    if (sum == 0) {
      throw new AssertionError("nothing was done");
    }
    return least;
  }
}
