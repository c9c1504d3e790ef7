package org.rdma4j.tools.perftest;

import java.time.Duration;

/** The time that a latency test lets pass before each message. */
final class Gap {
  private final long nanos;

  Gap(Duration gap) {
    nanos = gap.toNanos();
  }

  /** Lets the time pass without giving up the processor. */
  void pass() {
    if (nanos > 0) {
      long began = System.nanoTime();
      while (System.nanoTime() - began < nanos) {
        Thread.onSpinWait();
      }
    }
  }
}
