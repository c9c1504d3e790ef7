package org.rdma4j.tools.perftest;

import java.util.Arrays;
import org.rdma4j.tools.command.Failure;

/**
 * When each message of a latency test was sent. A timed test only counts its messages.
 *
 * <p>Messages that do not count are noted like the others: if the first message that counts took a
 * branch that was never taken before, compiled code would be thrown away just then.
 */
final class LatencySamples {
  private final long[] sent;
  private final int warmup;
  private final Clock clock;
  private long next;
  private long counted;

  /**
   * Makes room.
   *
   * @param iterations the number of messages, or Long.MAX_VALUE if the test is timed
   * @param warmup how many of them do not count
   * @param clock the clock of the test
   */
  LatencySamples(long iterations, long warmup, Clock clock) {
    this.clock = clock;
    boolean timed = iterations == Long.MAX_VALUE;
    this.warmup = timed ? 0 : Math.toIntExact(warmup);
    try {
      sent = new long[timed ? 0 : Math.toIntExact(iterations)];
    } catch (OutOfMemoryError | ArithmeticException tooMany) {
      throw new Failure(
          "-n is %d, whose times need %d MiB of memory; use a smaller -n, or -D, or start java with a larger -Xmx"
              .formatted(iterations, (iterations * Long.BYTES) >> 20),
          tooMany);
    }
  }

  /** Records that a message is about to be sent. */
  void send() {
    if (next < sent.length) {
      sent[(int) next] = System.nanoTime();
    }
    next++;
  }

  /** Records that a round trip is complete, and notifies the clock. */
  void complete(long messages) {
    if (clock.isMeasuring()) {
      counted++;
    }
    clock.done(messages);
  }

  /** Returns the number of round trips in the measured part of a timed test. */
  long counted() {
    return counted;
  }

  /** Returns the nanoseconds between each message that counts and the next, in their order. */
  long[] intervals() {
    int messages = (int) Math.min(next, sent.length);
    long[] intervals = new long[Math.max(0, messages - warmup - 1)];
    Arrays.setAll(intervals, i -> sent[warmup + i + 1] - sent[warmup + i]);
    return intervals;
  }
}
