package org.rdma4j.bench;

import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.Completions;

/** What the loop in C does with a completion. */
final class Reaping {
  private Reaping() {}

  /** Polls until the completion is there, and reads it. */
  static long one(Completions completions) {
    while (completions.poll() == 0) {
      // The stand-in completes at once.
    }
    completions.requireSuccess(0);
    if (completions.opcode(0) != CompletionOpcode.SEND) {
      throw new IllegalStateException("not a send: " + completions.opcode(0));
    }
    return completions.workRequestId(0) + completions.byteLength(0);
  }
}
