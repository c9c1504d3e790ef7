package org.rdma4j.tools.perftest;

/** The results of bandwidth tests, in the units in which they are printed. */
final class Bandwidth {
  private static final double MEBIBYTE = 1 << 20;
  private static final double GIGABIT = 125e6;

  private Bandwidth() {}

  /**
   * A result as one side sends it to the other.
   *
   * @param size the length of a message in bytes
   * @param messages the number of messages
   * @param peak the highest bandwidth, in the unit that the side prints
   * @param average the bandwidth, in the unit that the side prints
   * @param millionsPerSecond the number of messages per second, in millions
   */
  record Report(long size, long messages, double peak, double average, double millionsPerSecond) {
    /** Sent by a side that has measured nothing. */
    static final Report NONE = new Report(0, 0, 0, 0, 0);

    /** Returns a copy with another number of messages. */
    Report of(long otherMessages) {
      return new Report(size, otherMessages, peak, average, millionsPerSecond);
    }

    /** Returns the sum of two directions. */
    Report plus(Report other) {
      return new Report(
          size,
          messages,
          peak + other.peak,
          average + other.average,
          millionsPerSecond + other.millionsPerSecond);
    }

    /** Returns the report of a peer in the unit of this side: the peer may print another one. */
    Report in(boolean gigabits) {
      if (!(average > 0)) {
        return this;
      }
      double own = millionsPerSecond * 1e6 * size / unit(gigabits);
      return new Report(size, messages, peak * own / average, own, millionsPerSecond);
    }
  }

  /** Converts what a loop has measured; with factor 2, as much again goes the other way. */
  static Report report(long size, Throughput measured, boolean gigabits, int factor) {
    double perSecond = measured.messages() * 1e9 / measured.nanos() * factor;
    double bytes = size / unit(gigabits);
    return new Report(
        size,
        measured.messages(),
        measured.peakNanos() == 0 ? 0 : bytes * 1e9 / measured.peakNanos(),
        perSecond * bytes,
        perSecond / 1e6);
  }

  private static double unit(boolean gigabits) {
    return gigabits ? GIGABIT : MEBIBYTE;
  }
}
