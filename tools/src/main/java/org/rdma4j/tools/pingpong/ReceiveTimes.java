package org.rdma4j.tools.pingpong;

/** Measures the times between receives, in ticks of the device's clock. */
final class ReceiveTimes {
  private final long mask;
  private long previous;
  private long longest;
  private long shortest = Long.MAX_VALUE;
  private double total;
  private int count = -1;

  /** For a clock that counts from 0 to the mask and starts again. */
  ReceiveTimes(long mask) {
    this.mask = mask;
  }

  void add(long timestamp) {
    if (++count > 0) {
      long time = timestamp - previous & mask;
      longest = Math.max(longest, time);
      shortest = Math.min(shortest, time);
      total += time;
    }
    previous = timestamp;
  }

  /** Returns whether there were at least two receives. */
  boolean areKnown() {
    return count > 0;
  }

  long longest() {
    return longest;
  }

  long shortest() {
    return shortest;
  }

  double average() {
    return total / count;
  }
}
