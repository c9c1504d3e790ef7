package org.rdma4j.connection;

import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** Waits that take as long as it takes. */
final class Forever {
  private static final Duration FOREVER = Duration.ofDays(36_500);

  private Forever() {}

  /** Something that waits for a time at most. */
  interface Wait<T> {
    T within(Duration timeout) throws InterruptedException, TimeoutException;
  }

  /** A method of a subject that takes an argument, and waits for a time at most. */
  interface Step<S, A> {
    boolean within(S subject, A argument, Duration timeout)
        throws InterruptedException, TimeoutException;
  }

  static <T> T await(Wait<T> wait) throws InterruptedException {
    try {
      return wait.within(FOREVER);
    } catch (TimeoutException never) {
      throw new IllegalStateException(never);
    }
  }

  /** Waits for a step, which is a lambda that captures nothing, so that this allocates nothing. */
  static <S, A> boolean await(S subject, A argument, Step<S, A> step) throws InterruptedException {
    try {
      return step.within(subject, argument, FOREVER);
    } catch (TimeoutException never) {
      throw new IllegalStateException(never);
    }
  }
}
