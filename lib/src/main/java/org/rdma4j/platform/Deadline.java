package org.rdma4j.platform;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;

/** The time by which several steps together must be done. */
public final class Deadline {
  /** Longer timeouts would exceed the range of {@link System#nanoTime}. */
  private static final Duration MAX_TIMEOUT = Duration.ofDays(36_500);

  private final Duration timeout;
  private final long end;

  private Deadline(Duration timeout) {
    this.timeout = timeout;
    this.end =
        System.nanoTime() + (timeout.compareTo(MAX_TIMEOUT) > 0 ? MAX_TIMEOUT : timeout).toNanos();
  }

  /**
   * Returns the deadline after the given time from now.
   *
   * @throws IllegalArgumentException if the timeout is negative
   */
  public static Deadline after(Duration timeout) {
    if (timeout.isNegative()) {
      throw new IllegalArgumentException(
          "timeout is " + TimeText.of(timeout) + ", must not be negative");
    }
    return new Deadline(timeout);
  }

  /** Returns the time that there was when this deadline was created. */
  public Duration timeout() {
    return timeout;
  }

  /** Returns the deadline on the scale of {@link System#nanoTime}. */
  public long end() {
    return end;
  }

  /** Returns the remaining time, zero if the deadline has passed. */
  public Duration remaining() {
    return Duration.ofNanos(nanos());
  }

  /** Returns the remaining time in nanoseconds, 0 if the deadline has passed. */
  public long nanos() {
    return Math.max(0, end - System.nanoTime());
  }

  /** Returns whether the deadline has passed. */
  public boolean isOver() {
    return nanos() == 0;
  }

  /**
   * Returns the remaining time in milliseconds, at least 1, because 0 means forever to sockets.
   *
   * @throws SocketTimeoutException if the deadline has passed
   */
  public int millis() throws SocketTimeoutException {
    long nanos = nanos();
    if (nanos == 0) {
      throw new SocketTimeoutException("nothing within " + TimeText.of(timeout));
    }
    return Math.clamp((nanos + 999_999) / 1_000_000, 1, Integer.MAX_VALUE);
  }

  /** Makes a read of the socket end at this deadline. */
  public void apply(Socket socket) throws IOException {
    socket.setSoTimeout(millis());
  }
}
