package org.rdma4j.lifetime;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.Readiness;

/** The threads that wait for events on a descriptor, of an object that may be closed meanwhile. */
public final class Waits {
  private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();

  /** Makes the waiting threads see that the object is not open any more. */
  public void wake() {
    waiting.forEach(LockSupport::unpark);
  }

  /**
   * Waits, in a call of that lifetime.
   *
   * @param next reads the next event without blocking; null where there is none, or none of
   *     interest
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the object is closed, also while waiting
   */
  public <T> Optional<T> await(
      Duration timeout, int descriptor, Lifetime lifetime, Supplier<@Nullable T> next)
      throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    lifetime.enter();
    waiting.add(Thread.currentThread());
    try {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      // A look saves a virtual thread the way over another one; any other would make one system
      // call more.
      T event = Thread.currentThread().isVirtual() ? next.get() : null;
      while (event == null) {
        if (!Readiness.await(descriptor, deadline.end(), () -> !lifetime.isOpen())) {
          if (!lifetime.isOpen()) {
            throw lifetime.closed();
          }
          return Optional.empty();
        }
        event = next.get();
      }
      return Optional.of(event);
    } finally {
      waiting.remove(Thread.currentThread());
      lifetime.leave();
    }
  }
}
