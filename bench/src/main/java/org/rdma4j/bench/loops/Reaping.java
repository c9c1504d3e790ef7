package org.rdma4j.bench.loops;

import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.Completions;

/** Polls and reads completions as the loops in C do. */
public final class Reaping {
  private Reaping() {}

  /**
   * Polls until there is a completion, and reads it.
   *
   * @param completions where to poll, one at a time
   * @return the sum of what was read
   */
  public static long one(Completions completions) {
    while (completions.poll() == 0) {
      // The stand-in device completes a request when it is posted.
    }
    return read(completions, 0);
  }

  /** Polls until there were as many completions as given, and reads them. */
  static long all(Completions completions, int count) {
    long sum = 0;
    int missing = count;
    while (missing > 0) {
      int polled = completions.poll();
      for (int i = 0; i < polled; i++) {
        sum += read(completions, i);
      }
      missing -= polled;
    }
    return sum;
  }

  /**
   * Reads a completion.
   *
   * @param completions what was polled
   * @param index which of them
   * @return the sum of what was read
   */
  public static long read(Completions completions, int index) {
    completions.requireSuccess(index);
    if (completions.opcode(index) == CompletionOpcode.RECEIVE) {
      throw new IllegalStateException("the completion is of a receive, but no receive was posted");
    }
    return completions.workRequestId(index) + completions.byteLength(index);
  }
}
