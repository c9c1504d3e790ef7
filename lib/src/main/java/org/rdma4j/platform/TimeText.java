package org.rdma4j.platform;

import java.time.Duration;

/** Durations as messages write them: 20 s, 300 ms, 50 us. */
public final class TimeText {
  private TimeText() {}

  /** Returns a duration in the largest of seconds, milliseconds and microseconds that is exact. */
  public static String of(Duration duration) {
    int nanos = duration.getNano();
    // The fraction of such long ones does not matter, and may have no number of microseconds.
    if (nanos == 0 || duration.compareTo(Duration.ofHours(1)) > 0) {
      return duration.getSeconds() + " s";
    }
    return nanos % 1_000_000 == 0
        ? duration.toMillis() + " ms"
        : (duration.toNanos() + 999) / 1000 + " us";
  }
}
