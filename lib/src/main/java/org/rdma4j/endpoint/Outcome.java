package org.rdma4j.endpoint;

import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.WorkCompletionException;

/** How a request ended: one of the two is there. */
record Outcome(
    long id, @Nullable Completion completion, @Nullable WorkCompletionException failure) {
  static Outcome of(Completion completion) {
    return new Outcome(completion.id(), completion, null);
  }

  static Outcome of(WorkCompletionException failure) {
    return new Outcome(failure.workRequestId(), null, failure);
  }

  /** Tells it to the thread that waited, whose stack it is that matters. */
  Completion tell() {
    if (completion != null) {
      return completion;
    }
    if (failure != null) {
      failure.fillInStackTrace();
      throw failure;
    }
    throw new AssertionError(this);
  }
}
