package org.rdma4j.verbs;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Readiness;

/** The threads that wait for events on a descriptor, of an object that may be closed meanwhile. */
final class Waits {
  private static final Duration FOR_EVER = Duration.ofDays(36_500);

  private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();

  /** Makes the waiting threads see that the object is not open any more. */
  void wake() {
    waiting.forEach(LockSupport::unpark);
  }

  /**
   * Waits, in a call of that lifetime.
   *
   * @param next reads the next event without blocking; null where there is none, or none of
   *     interest
   * @throws IllegalArgumentException where the timeout is negative
   * @throws IllegalStateException where the object is closed, also while waiting
   */
  <T> Optional<T> await(
      Duration timeout, int descriptor, Lifetime lifetime, Supplier<@Nullable T> next)
      throws InterruptedException {
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("timeout is " + timeout + ", must not be negative");
    }
    long deadline =
        System.nanoTime()
            + (timeout.compareTo(FOR_EVER) > 0 ? FOR_EVER.toNanos() : timeout.toNanos());
    lifetime.enter();
    waiting.add(Thread.currentThread());
    try {
      while (true) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        T event = next.get();
        if (event != null) {
          return Optional.of(event);
        }
        if (!Readiness.await(descriptor, deadline, () -> !lifetime.isOpen())) {
          if (!lifetime.isOpen()) {
            throw lifetime.closed();
          }
          return Optional.empty();
        }
      }
    } finally {
      waiting.remove(Thread.currentThread());
      lifetime.leave();
    }
  }
}
