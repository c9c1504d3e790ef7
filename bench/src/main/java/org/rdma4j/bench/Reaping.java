package org.rdma4j.bench;

import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.Completions;

/** What the loop in C does with a completion. */
final class Reaping {
  private Reaping() {}

  /** Polls until a completion is there, and reads it. */
  static long one(Completions completions) {
    while (completions.poll() == 0) {
      // The stand-in completes at once.
    }
    return read(completions, 0);
  }

  /** Polls until so many completions were there, and reads them. */
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

  private static long read(Completions completions, int index) {
    completions.requireSuccess(index);
    if (completions.opcode(index) == CompletionOpcode.RECEIVE) {
      throw new IllegalStateException("nobody sent");
    }
    return completions.workRequestId(index) + completions.byteLength(index);
  }
}
