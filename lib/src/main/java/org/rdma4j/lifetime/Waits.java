package org.rdma4j.lifetime;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
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

  /** Wakes the waiting threads except this one, because it has taken an event. */
  public void wakeOthers() {
    if (waiting.size() > 1) {
      Thread current = Thread.currentThread();
      for (Thread each : waiting) {
        if (each != current) {
          LockSupport.unpark(each);
        }
      }
    }
  }

  private static boolean never() {
    return false;
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
    Deadline deadline = Deadline.after(timeout);
    begin(lifetime);
    try {
      // Reading first can save a virtual thread waiting for the thread with epoll, and is all that
      // a caller needs who does not wait. For others it would only be one more system call.
      boolean readFirst = Thread.currentThread().isVirtual() || timeout.isZero();
      T event = readFirst ? next.get() : null;
      while (event == null) {
        if (!isReady(deadline, descriptor, lifetime, lifetime, Waits::never)) {
          return Optional.empty();
        }
        event = next.get();
      }
      return Optional.of(event);
    } finally {
      end(lifetime);
    }
  }

  /**
   * Waits until an event can be read, in a call that keeps the object from being destroyed.
   *
   * @return false if none came within the time
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the object is closed, also while waiting
   */
  public boolean awaitReady(Duration timeout, int descriptor, Lifetime lifetime)
      throws InterruptedException {
    return awaitReady(timeout, descriptor, lifetime, lifetime, Waits::never);
  }

  /**
   * Waits as {@link #awaitReady(Duration, int, Lifetime)} does, or until a condition holds, or an
   * object is closed without which the event is useless to the caller. Its close has to {@link
   * #wake}, as has what makes the condition true. A platform thread notices both within 50 ms.
   *
   * @return false if no event came
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if one of the two is closed, also while waiting
   */
  public boolean awaitReady(
      Duration timeout,
      int descriptor,
      Lifetime lifetime,
      Lifetime needed,
      BooleanSupplier condition)
      throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    begin(lifetime);
    try {
      return isReady(deadline, descriptor, lifetime, needed, condition);
    } finally {
      end(lifetime);
    }
  }

  private void begin(Lifetime lifetime) throws InterruptedException {
    lifetime.enter();
    if (Thread.interrupted()) {
      lifetime.leave();
      throw new InterruptedException();
    }
    waiting.add(Thread.currentThread());
  }

  private void end(Lifetime lifetime) {
    waiting.remove(Thread.currentThread());
    lifetime.leave();
  }

  private static boolean isReady(
      Deadline deadline,
      int descriptor,
      Lifetime lifetime,
      Lifetime needed,
      BooleanSupplier condition)
      throws InterruptedException {
    if (Readiness.await(
        descriptor,
        deadline.end(),
        () -> !lifetime.isOpen() || !needed.isOpen() || condition.getAsBoolean())) {
      return true;
    }
    if (!lifetime.isOpen()) {
      throw lifetime.closed();
    }
    if (!needed.isOpen()) {
      throw needed.closed();
    }
    return false;
  }
}
