package org.rdma4j.lifetime;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.LockOrder;

/**
 * The lifetime of one native object, from its creation to its destruction.
 *
 * <p>It is separate from the object that users hold, so that the objects that this one depends on
 * can refer to it without keeping the user's object reachable. Therefore {@link Leaks} can report
 * an object that is dropped while it is open.
 *
 * <p>The rule for closing: when {@link #close} begins, new calls throw IllegalStateException. Then
 * close waits for the calls in progress, closes the dependent objects, the youngest first, and
 * destroys the native object. If another thread calls close meanwhile, its call returns when all of
 * this is done. Any thread may close any object.
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
  private final ReentrantLock lock = LockOrder.LIFETIME.newLock();
  private final Condition changed = lock.newCondition();
  private final SequencedSet<Lifetime> dependents = new LinkedHashSet<>();
  private volatile State state = State.OPEN;
  private volatile boolean leftToParent;
  private volatile Runnable onClose = () -> {};
  private int callsInProgress;

  /**
   * Creates the lifetime of an object that has just been created. To be called while all objects
   * that it depends on are kept open.
   *
   * @param name the name of the object in messages
   * @param destroy destroys the native object; must not refer to the object that users hold
   */
  public Lifetime(String name, Runnable destroy, Lifetime... dependsOn) {
    this(name, () -> {}, destroy, dependsOn);
  }

  /**
   * Creates the lifetime of an object on which threads wait.
   *
   * @param wakeWaiters makes the waiting threads check {@link #isOpen} soon
   */
  public Lifetime(String name, Runnable wakeWaiters, Runnable destroy, Lifetime... dependsOn) {
    this.name = name;
    this.wakeWaiters = wakeWaiters;
    this.destroy = destroy;
    for (Lifetime parent : dependsOn) {
      dependOn(parent);
    }
  }

  /** Makes this object depend on another one too. To be called while that one is kept open. */
  public void dependOn(Lifetime parent) {
    dependsOn.add(parent);
    parent.add(this);
  }

  /** Ends the dependency on another object. To be called while this object is kept open. */
  public void dependNoMoreOn(Lifetime parent) {
    dependsOn.remove(parent);
    parent.remove(this);
  }

  /** Registers an action to run on close, or runs it immediately if this is already closed. */
  void onClose(Runnable action) {
    onClose = action;
    if (state == State.CLOSED) {
      action.run();
    }
  }

  /**
   * Leaves the close to what this depends on: an object that is dropped while it is open is not
   * reported.
   */
  public void leaveToParent() {
    leftToParent = true;
  }

  boolean isLeftToParent() {
    return leftToParent;
  }

  /** Returns whether the close of this has begun, or that of something that this depends on. */
  boolean isClosing() {
    return state != State.OPEN || dependsOn.stream().anyMatch(Lifetime::isClosing);
  }

  /** Returns true until {@link #close} begins. */
  public boolean isOpen() {
    return state == State.OPEN;
  }

  /**
   * Runs a call, and keeps the native object from being destroyed during it.
   *
   * @throws IllegalStateException if the object is closed
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
   * Makes a call without a result, and keeps the native object from being destroyed during it.
   *
   * @throws IllegalStateException if the object is closed
   */
  public void run(Runnable call) {
    enter();
    try {
      call.run();
    } finally {
      leave();
    }
  }

  /**
   * Runs a call, and keeps several native objects from being destroyed during it.
   *
   * @throws IllegalStateException if one of the objects is closed
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

  /** Returns the exception for the use of the object after it was closed. */
  public IllegalStateException closed() {
    return new IllegalStateException(name + " is closed");
  }

  /** Begins a call, during which the object is not destroyed. {@link #leave} ends it. */
  public void enter() {
    if (!tryEnter()) {
      throw closed();
    }
  }

  /** Begins a call if the object is open, and returns whether it is. */
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

  /**
   * Closes the objects that depend on this one, then this one. Does nothing if it is already
   * closed.
   */
  public void close() {
    if (!beginClosing()) {
      return;
    }
    Attempts attempts = new Attempts();
    for (Lifetime dependent : youngestFirst()) {
      attempts.attempt(dependent::close);
    }
    attempts.attempt(destroy);
    for (Lifetime parent : dependsOn) {
      parent.remove(this);
    }
    endClosing();
    attempts.attempt(onClose);
    attempts.finish();
  }

  /**
   * Returns true if this thread is to close the object; otherwise waits until another thread has
   * closed it.
   */
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

  @Override
  public String toString() {
    return name;
  }
}
