package org.rdma4j.lifetime;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The life of one native object, from its creation to its destruction.
 *
 * <p>It is apart from the object that users hold, so that the one on which it depends can know it
 * without keeping the user's object reachable: one that is dropped while open can be reported.
 *
 * <p>The rule for closing: from the moment that {@link #close} begins, new calls are refused with
 * an IllegalStateException. Calls in progress are waited for, then dependents are closed, youngest
 * first, then the native object is destroyed. Whoever else calls close returns when all that is
 * done. All of it may happen in any thread.
 */
public final class Lifetime {
  private enum State {
    OPEN,
    CLOSING,
    CLOSED
  }

  private final String name;
  private final Runnable wakeWaiters;
  private final Runnable destroy;
  private final List<Lifetime> dependsOn = new CopyOnWriteArrayList<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final SequencedSet<Lifetime> dependents = new LinkedHashSet<>();
  private volatile State state = State.OPEN;
  private volatile Runnable forget = () -> {};
  private int callsInProgress;

  /**
   * The life of an object that has just been created, in a call during which each of those it
   * depends on was open.
   *
   * @param name what messages call it
   * @param destroy destroys the native object; must not refer to the object that users hold
   */
  public Lifetime(String name, Runnable destroy, Lifetime... dependsOn) {
    this(name, () -> {}, destroy, dependsOn);
  }

  /**
   * The same for an object on which threads wait.
   *
   * @param wakeWaiters makes the waiting threads look at {@link #isOpen}, soon or at once
   */
  public Lifetime(String name, Runnable wakeWaiters, Runnable destroy, Lifetime... dependsOn) {
    this.name = name;
    this.wakeWaiters = wakeWaiters;
    this.destroy = destroy;
    for (Lifetime parent : dependsOn) {
      dependOn(parent);
    }
  }

  /** From now on it depends on that too, in a call during which that is open. */
  public void dependOn(Lifetime parent) {
    dependsOn.add(parent);
    parent.add(this);
  }

  /** From now on it does not depend on that any more, in a call during which this is open. */
  public void dependNoMoreOn(Lifetime parent) {
    dependsOn.remove(parent);
    parent.remove(this);
  }

  /** Has its end, which may have come already, forget whoever watches that it comes. */
  void watchedUntilClosed(Runnable forget) {
    this.forget = forget;
    if (state == State.CLOSED) {
      forget.run();
    }
  }

  /** Whether {@link #close} has not begun. */
  public boolean isOpen() {
    return state == State.OPEN;
  }

  /**
   * Makes a call during which the native object is not destroyed.
   *
   * @throws IllegalStateException if it is closed
   */
  public <T extends @Nullable Object> T whileOpen(Supplier<T> call) {
    enter();
    try {
      return call.get();
    } finally {
      leave();
    }
  }

  /**
   * Makes a call during which none of several native objects is destroyed.
   *
   * @throws IllegalStateException if one is closed
   */
  public static <T extends @Nullable Object> T whileAllOpen(
      List<Lifetime> lifetimes, Supplier<T> call) {
    int entered = 0;
    try {
      for (Lifetime each : lifetimes) {
        each.enter();
        entered++;
      }
      return call.get();
    } finally {
      lifetimes.subList(0, entered).forEach(Lifetime::leave);
    }
  }

  /** The exception for use after close. */
  public IllegalStateException closed() {
    return new IllegalStateException(name + " is closed");
  }

  /** Begins a call, which {@link #leave} ends. */
  public void enter() {
    if (!tryEnter()) {
      throw closed();
    }
  }

  /** Begins a call where it is open; returns whether it is. */
  public boolean tryEnter() {
    lock.lock();
    try {
      if (state != State.OPEN) {
        return false;
      }
      callsInProgress++;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Ends a call that {@link #enter} began. */
  public void leave() {
    lock.lock();
    try {
      callsInProgress--;
      if (callsInProgress == 0) {
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Closes it, those that depend on it first. Does nothing if it is already closed. */
  public void close() {
    if (!beginClosing()) {
      return;
    }
    List<RuntimeException> failures = new ArrayList<>();
    for (Lifetime dependent : youngestFirst()) {
      attempt(dependent::close, failures);
    }
    attempt(destroy, failures);
    for (Lifetime parent : dependsOn) {
      parent.remove(this);
    }
    endClosing();
    forget.run();
    if (!failures.isEmpty()) {
      RuntimeException first = failures.removeFirst();
      failures.forEach(first::addSuppressed);
      throw first;
    }
  }

  /** Whether it is this thread that closes; otherwise it has been closed when this returns. */
  private boolean beginClosing() {
    lock.lock();
    try {
      if (state != State.OPEN) {
        while (state != State.CLOSED) {
          changed.awaitUninterruptibly();
        }
        return false;
      }
      state = State.CLOSING;
      wakeWaiters.run();
      while (callsInProgress > 0) {
        changed.awaitUninterruptibly();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void endClosing() {
    lock.lock();
    try {
      state = State.CLOSED;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private List<Lifetime> youngestFirst() {
    lock.lock();
    try {
      return List.copyOf(dependents.reversed());
    } finally {
      lock.unlock();
    }
  }

  private void add(Lifetime dependent) {
    lock.lock();
    try {
      dependents.add(dependent);
    } finally {
      lock.unlock();
    }
  }

  private void remove(Lifetime dependent) {
    lock.lock();
    try {
      dependents.remove(dependent);
    } finally {
      lock.unlock();
    }
  }

  private static void attempt(Runnable step, List<RuntimeException> failures) {
    try {
      step.run();
    } catch (RuntimeException failure) {
      failures.add(failure);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
