package org.rdma4j.tools.perftest;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/**
 * Decides when the loop of a test measures and when it ends, and reports how far it has come. The
 * loop belongs to one thread; a timed test, and its observers have a second one. Any thread may end
 * the test early.
 */
final class Clock implements AutoCloseable {
  private static final VarHandle DONE;

  static {
    try {
      DONE = MethodHandles.lookup().findVarHandle(Clock.class, "done", long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new LinkageError("Clock has a field done", impossible);
    }
  }

  private static final long TICK_NANOS = 200_000_000;

  private final long nanos;
  private final long marginNanos;
  private final LongConsumer ticked;
  private volatile boolean measuring;
  private volatile boolean over;
  private volatile boolean cut;
  private volatile long began;
  private volatile long ended;
  private volatile boolean closed;
  private Thread timer = Thread.currentThread();

  @SuppressWarnings("UnusedVariable") // through the VarHandle
  private long done;

  /**
   * Creates the clock of a test.
   *
   * @param settings whether it is timed, and how
   * @param ticked told several times a second how many messages are done
   */
  Clock(Settings settings, LongConsumer ticked) {
    nanos = settings.isTimed() && !settings.infinitely() ? settings.seconds() * 1_000_000_000L : 0;
    marginNanos = settings.margin() * 1_000_000_000L;
    this.ticked = ticked;
  }

  /** Begins the test. A test that is not timed measures from the beginning. */
  void start() {
    began = System.nanoTime();
    measuring = nanos == 0;
    timer = Thread.ofPlatform().daemon().name("perftest-clock").start(() -> run(began));
  }

  private void run(long start) {
    boolean begun = nanos == 0;
    boolean stopped = nanos == 0;
    long nextTick = start + TICK_NANOS;
    while (!closed && !over) {
      long now = System.nanoTime();
      if (!begun && now - start >= marginNanos) {
        began = System.nanoTime();
        measuring = true;
        begun = true;
      }
      if (!stopped && now - start >= nanos - marginNanos) {
        stopMeasuring();
        stopped = true;
      }
      if (nanos > 0 && now - start >= nanos) {
        over = true;
      }
      if (now - nextTick >= 0) {
        ticked.accept((long) DONE.getOpaque(this));
        nextTick += TICK_NANOS;
      }
      long next = nextTick;
      if (!begun) {
        next = Math.min(next, start + marginNanos);
      } else if (!stopped) {
        next = Math.min(next, start + nanos - marginNanos);
      } else if (nanos > 0) {
        next = Math.min(next, start + nanos);
      }
      LockSupport.parkNanos(this, Math.max(1, next - System.nanoTime()));
    }
  }

  private synchronized void stopMeasuring() {
    if (measuring) {
      ended = System.nanoTime();
      measuring = false;
    }
  }

  /** Ends the test early. */
  void cut() {
    cut = true;
    stopMeasuring();
    over = true;
  }

  /** Returns whether the test was ended early. */
  boolean wasCut() {
    return cut;
  }

  /** Returns whether what happens now counts. */
  boolean isMeasuring() {
    return measuring;
  }

  /** Returns whether the loop has to end although its messages are not all done. */
  boolean isOver() {
    return over;
  }

  /** Returns when a timed test began to measure. */
  long began() {
    return began;
  }

  /** Returns when a timed test ended to measure. */
  long ended() {
    return ended;
  }

  /** Records how many messages are done. */
  void done(long messages) {
    DONE.setOpaque(this, messages);
  }

  /** Returns how many messages are done. */
  long done() {
    return (long) DONE.getOpaque(this);
  }

  /** Ends the second thread. */
  @Override
  public void close() {
    closed = true;
    if (timer != Thread.currentThread()) {
      LockSupport.unpark(timer);
      boolean interrupted = false;
      while (true) {
        try {
          timer.join();
          break;
        } catch (InterruptedException again) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
