package org.rdma4j.platform;

import java.time.Duration;

/** Durations as messages write them: 20 s, 300 ms, 50 us. */
public final class TimeText {
  private TimeText() {}

  /** Returns a duration in the largest of seconds, milliseconds and microseconds that is exact. */
  public static String of(Duration duration) {
    long seconds = duration.toSeconds();
    // The fraction of such long ones does not matter, and may have no number of microseconds.
    if (duration.equals(Duration.ofSeconds(seconds)) || seconds > 3600) {
      return seconds + " s";
    }
    long millis = duration.toMillis();
    return duration.equals(Duration.ofMillis(millis))
        ? millis + " ms"
        : (duration.toNanos() + 999) / 1000 + " us";
  }
}
