package org.rdma4j.tools.perftest;

import java.util.Arrays;

/**
 * The result of a latency test, computed as perftest does: in microseconds, of one direction if
 * messages go back and forth, and without the two longest times if there are more.
 *
 * @param messages the number of messages
 * @param min the shortest time
 * @param max the longest time, after the two that do not count
 * @param typical the median
 * @param average the arithmetic mean
 * @param deviation the standard deviation
 * @param percentile99 99 % of the times are less
 * @param percentile999 99.9 % of the times are less
 */
record Latency(
    long messages,
    double min,
    double max,
    double typical,
    double average,
    double deviation,
    double percentile99,
    double percentile999) {
  private static final int TAIL = 2;

  /**
   * Computes the result.
   *
   * @param messages the number of messages
   * @param sorted the nanoseconds between each message and the next, sorted; at least one
   * @param directions 2 if messages go back and forth, else 1
   */
  static Latency of(long messages, long[] sorted, int directions) {
    double toMicros = 1e3 * directions;
    int count = sorted.length > TAIL ? sorted.length - TAIL : sorted.length;
    double average = Arrays.stream(sorted, 0, count).average().orElse(0);
    double variance =
        Arrays.stream(sorted, 0, count)
            .mapToDouble(time -> (time - average) * (time - average))
            .average()
            .orElse(0);
    double median =
        count % 2 == 1
            ? sorted[count / 2]
            : (sorted[count / 2] + (double) sorted[count / 2 - 1]) / 2;
    return new Latency(
        messages,
        sorted[0] / toMicros,
        sorted[Math.min(count, sorted.length - 1)] / toMicros,
        median / toMicros,
        average / toMicros,
        Math.sqrt(variance) / toMicros,
        percentile(sorted, count, 0.99) / toMicros,
        percentile(sorted, count, 0.999) / toMicros);
  }

  private static long percentile(long[] sorted, int count, double fraction) {
    return sorted[(int) Math.min(Math.ceil(count * fraction), sorted.length - 1)];
  }
}
