package org.rdma4j.platform;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits until a file descriptor can be read. */
public final class Readiness {
  /**
   * The time within which a blocked platform thread notices an interrupt or the end of its wait.
   */
  private static final long SLICE_NANOS = Duration.ofMillis(50).toNanos();

  private Readiness() {}

  /**
   * Waits, without blocking the carrier of a virtual thread.
   *
   * @param deadline the end of the wait, on the scale of {@link System#nanoTime}
   * @param cancelled asked from time to time, and when this thread was unparked; true ends the wait
   * @return true if the descriptor can be read; false if time is up or the wait was cancelled
   */
  public static boolean await(int fd, long deadline, BooleanSupplier cancelled)
      throws InterruptedException {
    return Thread.currentThread().isVirtual()
        ? ReadinessThread.await(fd, deadline, cancelled)
        : block(fd, deadline, cancelled);
  }

  /** Returns whether the descriptor can be read now. */
  public static boolean isReady(int fd) {
    return Libc.poll(fd, 0);
  }

  private static boolean block(int fd, long deadline, BooleanSupplier cancelled)
      throws InterruptedException {
    while (true) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      long remaining = deadline - System.nanoTime();
      if (cancelled.getAsBoolean()) {
        return false;
      }
      if (Libc.poll(fd, milliseconds(Math.clamp(remaining, 0, SLICE_NANOS)))) {
        return true;
      }
      if (remaining <= 0) {
        return false;
      }
    }
  }

  /** Rounds up, so that a wait never ends too early. */
  private static int milliseconds(long nanos) {
    return (int) ((nanos + 999_999) / 1_000_000);
  }
}
