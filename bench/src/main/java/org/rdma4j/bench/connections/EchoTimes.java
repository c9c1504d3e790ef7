package org.rdma4j.bench.connections;

import org.HdrHistogram.Histogram;

/** The times there and back of echoes, each of which begins when the one before is back. */
final class EchoTimes {
  private final Histogram times = new Histogram(3);
  private final long begin = System.nanoTime();
  private long last = begin;

  /** Notes that a message is back. */
  void isBack() {
    long now = System.nanoTime();
    times.recordValue(now - last);
    last = now;
  }

  /** Returns how many messages are back, and the time that all took. */
  Rates.Result result() {
    return new Rates.Result(times.getTotalCount(), last - begin);
  }

  /** Returns the median, in microseconds, of echoes of which one at a time is outstanding. */
  double median() {
    return times.getValueAtPercentile(50) / 1e3;
  }
}
