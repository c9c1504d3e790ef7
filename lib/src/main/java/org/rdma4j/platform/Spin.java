package org.rdma4j.platform;

import java.util.concurrent.Semaphore;
import java.util.function.IntSupplier;

/**
 * Polls for something for a short time before the thread sleeps: what comes soon is found earlier
 * than a sleeping thread would wake up. After four polls in a row that found nothing, the next one
 * is skipped; after each further wait that finds nothing, twice as many are skipped, up to 64.
 *
 * <p>Virtual threads do not poll, because they would block their carrier. At most half of the
 * processors poll at a time, because the thread that is waited for may need one.
 */
public final class Spin {
  /** More than a sleep and a wake-up take, but for the slowest emulated processors. */
  private static final long MAX_NANOS = 1_000_000;

  /** The usual time until an answer comes over a fast network. */
  private static final long YIELD_NANOS = 20_000;

  /**
   * The number of failed polls in a row after which polls are skipped. More than one, because a
   * thread that sleeps makes its peer wait longer too, and would end the polling of both.
   */
  private static final int FAILURES_BEFORE_SKIPS = 4;

  private static final int MAX_FAILURES = FAILURES_BEFORE_SKIPS + 6;

  private static final Semaphore HALF_OF_THE_PROCESSORS =
      new Semaphore(Runtime.getRuntime().availableProcessors() / 2);

  private final Semaphore processors;
  private final long maxNanos;

  /** The number of polls in a row that found nothing, up to MAX_FAILURES. */
  private int failures;

  /** How many polls are still to be skipped. */
  private int skips;

  /** Creates one for a thing that is waited for. Only one thread at a time may use it. */
  public Spin() {
    this(HALF_OF_THE_PROCESSORS, MAX_NANOS);
  }

  Spin(Semaphore processors, long maxNanos) {
    this.processors = processors;
    this.maxNanos = maxNanos;
  }

  /**
   * Lets others have the processor: after a while all others that could run, because what is waited
   * for may be theirs to do.
   */
  @SuppressWarnings("ThreadPriorityCheck") // Nothing relies on it: it only makes room earlier.
  private static void relax(long nanos) {
    if (nanos < YIELD_NANOS) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }

  /**
   * Polls until something is found, for 1 ms at most.
   *
   * @param end when to stop at the latest, on the scale of {@link System#nanoTime}
   * @param poll returns what it found, or 0 for nothing
   * @return the result of the last poll; 0 if there was none
   */
  public int until(long end, IntSupplier poll) {
    long began = System.nanoTime();
    long now = began;
    long limit = Math.min(maxNanos, end - began);
    if (limit <= 0) {
      return 0;
    }
    if (skips > 0) {
      skips--;
      return 0;
    }
    if (Thread.currentThread().isVirtual() || !processors.tryAcquire()) {
      return 0;
    }
    try {
      int found;
      do {
        relax(now - began);
        found = poll.getAsInt();
        now = System.nanoTime();
      } while (found == 0 && now - began < limit);
      failures = found != 0 ? 0 : Math.min(failures + 1, MAX_FAILURES);
      skips = failures < FAILURES_BEFORE_SKIPS ? 0 : 1 << (failures - FAILURES_BEFORE_SKIPS);
      return found;
    } finally {
      processors.release();
    }
  }
}
