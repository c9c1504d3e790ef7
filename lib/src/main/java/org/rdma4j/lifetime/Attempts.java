package org.rdma4j.lifetime;

import org.jspecify.annotations.Nullable;

/**
 * Steps of which each is attempted, whatever the steps before it have thrown. Not safe for use by
 * several threads.
 */
public final class Attempts {
  private @Nullable Throwable first;

  /** Runs a step, and keeps what it throws until {@link #finish}. */
  public void attempt(Runnable step) {
    try {
      step.run();
    } catch (Throwable failed) {
      add(failed);
    }
  }

  private void add(Throwable failed) {
    if (first == null) {
      first = failed;
    } else if (failed != first) {
      first.addSuppressed(failed);
    }
  }

  /** Throws what the first step that failed has thrown, with the other failures as suppressed. */
  public void finish() {
    if (first instanceof RuntimeException failure) {
      throw failure;
    }
    if (first instanceof Error error) {
      throw error;
    }
    if (first != null) {
      // A checked exception that a compiler of another language let pass.
      throw new IllegalStateException(first);
    }
  }
}
