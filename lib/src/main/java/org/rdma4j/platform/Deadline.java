package org.rdma4j.platform;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;

/** When several steps together have to be done. */
public final class Deadline {
  /** {@link System#nanoTime} counts no further. */
  private static final Duration LONGEST = Duration.ofDays(36_500);

  private final Duration timeout;
  private final long end;

  private Deadline(Duration timeout) {
    this.timeout = timeout;
    this.end = System.nanoTime() + (timeout.compareTo(LONGEST) > 0 ? LONGEST : timeout).toNanos();
  }

  /**
   * That far from now.
   *
   * @throws IllegalArgumentException if the timeout is negative
   */
  public static Deadline after(Duration timeout) {
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("timeout is " + timeout + ", must not be negative");
    }
    return new Deadline(timeout);
  }

  /** How long it was when it began. */
  public Duration timeout() {
    return timeout;
  }

  /** When that is, on the scale of {@link System#nanoTime}. */
  public long end() {
    return end;
  }

  /** How long it still is, zero where it is over. */
  public Duration remaining() {
    return Duration.ofNanos(nanos());
  }

  /** How long it still is, 0 where it is over. */
  public long nanos() {
    return Math.max(0, end - System.nanoTime());
  }

  /** Whether it has come. */
  public boolean isOver() {
    return nanos() == 0;
  }

  /**
   * How long it still is, as sockets take it, to which 0 is forever.
   *
   * @throws SocketTimeoutException if it is over
   */
  public int millis() throws SocketTimeoutException {
    long nanos = nanos();
    if (nanos == 0) {
      throw new SocketTimeoutException("nothing within " + timeout);
    }
    return Math.clamp((nanos + 999_999) / 1_000_000, 1, Integer.MAX_VALUE);
  }

  /** Has a read of the socket end when this does. */
  public void apply(Socket socket) throws IOException {
    socket.setSoTimeout(millis());
  }
}
