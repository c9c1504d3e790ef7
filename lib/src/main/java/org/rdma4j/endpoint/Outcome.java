package org.rdma4j.endpoint;

import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.WorkCompletionException;

/** How a request ended: either the completion or the failure is present. */
record Outcome(
    long id, @Nullable Completion completion, @Nullable WorkCompletionException failure) {
  static Outcome of(Completion completion) {
    return new Outcome(completion.id(), completion, null);
  }

  static Outcome of(WorkCompletionException failure) {
    return new Outcome(failure.workRequestId(), null, failure);
  }

  /** Returns the completion, or throws the failure with the stack of the calling thread. */
  Completion get() {
    if (completion != null) {
      return completion;
    }
    if (failure != null) {
      // Another thread may have polled it, whose stack is of no use here.
      failure.fillInStackTrace();
      throw failure;
    }
    throw new AssertionError(this);
  }
}
