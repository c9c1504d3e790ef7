package org.rdma4j.platform;

import java.time.Duration;

/** Durations as messages write them: 20 s, 300 ms, 50 us, 7 ns. */
public final class TimeText {
  private TimeText() {}

  /** Returns a duration in the largest unit that is exact, from seconds to nanoseconds. */
  public static String of(Duration duration) {
    long seconds = duration.toSeconds();
    // The fraction of such long ones does not matter, and may have no number of nanoseconds.
    if (duration.equals(Duration.ofSeconds(seconds)) || Math.abs(seconds) > 3600) {
      return seconds + " s";
    }
    long nanos = duration.toNanos();
    if (nanos % 1_000_000 == 0) {
      return nanos / 1_000_000 + " ms";
    }
    return nanos % 1000 == 0 ? nanos / 1000 + " us" : nanos + " ns";
  }
}
