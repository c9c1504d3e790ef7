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

/**
 * The threads that wait for events on the descriptor of an object, which may be closed meanwhile.
 */
public final class Waits {
  private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();

  /** Wakes the waiting threads, which then notice that the object is no longer open. */
  public void wake() {
    waiting.forEach(LockSupport::unpark);
  }

  /**
   * Waits for the next event, in a call that keeps the object from being destroyed.
   *
   * @param next reads the next event without blocking; returns null if there is none, or if it is
   *     to be ignored
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the object is closed, also while waiting
   */
  public <T> Optional<T> await(
      Duration timeout, int descriptor, Lifetime lifetime, Supplier<@Nullable T> next)
      throws InterruptedException {
    return await(timeout, descriptor, lifetime, lifetime, next);
  }

  /**
   * Waits as {@link #await(Duration, int, Lifetime, Supplier)} does, or until an object is closed
   * without which the event is useless to the caller. Its close has to {@link #wake}.
   *
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if one of the two is closed, also while waiting
   */
  public <T> Optional<T> await(
      Duration timeout,
      int descriptor,
      Lifetime lifetime,
      Lifetime needed,
      Supplier<@Nullable T> next)
      throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    lifetime.enter();
    waiting.add(Thread.currentThread());
    try {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      // A virtual thread tries to read first, which can save it waiting for the thread with epoll.
      // For a platform thread this would only be one more system call.
      T event = Thread.currentThread().isVirtual() ? next.get() : null;
      while (event == null) {
        if (!Readiness.await(
            descriptor, deadline.end(), () -> !lifetime.isOpen() || !needed.isOpen())) {
          if (!lifetime.isOpen()) {
            throw lifetime.closed();
          }
          if (!needed.isOpen()) {
            throw needed.closed();
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
