package org.rdma4j.tools.perftest;

/**
 * What a loop of a bandwidth test has measured.
 *
 * @param messages the number of messages
 * @param nanos the time that they took
 * @param peakNanos the shortest time that consecutive messages took on average, or 0 if that was
 *     not measured
 */
record Throughput(long messages, long nanos, double peakNanos) {
  /** Returns the result of a timed test. */
  static Throughput timed(long messages, Clock clock) {
    return new Throughput(messages, Math.max(1, clock.ended() - clock.began()), 0);
  }
}
