package org.rdma4j.platform;

import java.util.concurrent.Semaphore;
import java.util.function.IntSupplier;

/**
 * Looks for something again and again for a while, before the thread sleeps until it comes: what
 * comes soon is there before a sleeping thread would be awake. Where that was in vain four times,
 * it is left out the next time, then twice as often after each, up to 64 times.
 *
 * <p>Not for virtual threads, which would hold their carrier. At most half of the processors spin:
 * who is waited for may need one.
 */
public final class Spin {
  /** More than a sleep and a wake-up take, even where processors are emulated. */
  private static final long LONGEST_NANOS = 200_000;

  /** Who sleeps makes the other wait for longer too: one such wait must not be the end of it. */
  private static final int FORGIVEN = 4;

  private static final int MAX_IN_VAIN = FORGIVEN + 6;

  private static final Semaphore HALF_OF_THE_PROCESSORS =
      new Semaphore(Runtime.getRuntime().availableProcessors() / 2);

  private final Semaphore processors;
  private final long longestNanos;

  /** How many were in vain since one that was not. */
  private int inVain;

  /** How often it is left out yet. */
  private int leftOut;

  /** One for each thing that is waited for, to be used by one thread at a time. */
  public Spin() {
    this(HALF_OF_THE_PROCESSORS, LONGEST_NANOS);
  }

  Spin(Semaphore processors, long longestNanos) {
    this.processors = processors;
    this.longestNanos = longestNanos;
  }

  /**
   * Looks until there is something, at most for 200 us.
   *
   * @param end when to stop at the latest, on the scale of {@link System#nanoTime}
   * @param look tells what there is, 0 where there is nothing
   * @return what the last look told; 0 where there was none
   */
  public int until(long end, IntSupplier look) {
    long began = System.nanoTime();
    long longest = Math.min(longestNanos, end - began);
    if (longest <= 0) {
      return 0;
    }
    if (leftOut > 0) {
      leftOut--;
      return 0;
    }
    if (Thread.currentThread().isVirtual() || !processors.tryAcquire()) {
      return 0;
    }
    try {
      int found;
      do {
        Thread.onSpinWait();
        found = look.getAsInt();
      } while (found == 0 && System.nanoTime() - began < longest);
      inVain = found != 0 ? 0 : Math.min(inVain + 1, MAX_IN_VAIN);
      leftOut = inVain < FORGIVEN ? 0 : 1 << (inVain - FORGIVEN);
      return found;
    } finally {
      processors.release();
    }
  }
}
