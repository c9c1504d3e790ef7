package org.rdma4j.connection;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.rdma4j.connection.session.Waiter;

/**
 * What threads wait for at a connection: made once for each kind of wait, so that a wait allocates
 * nothing. {@link ConnectionWaits#await} waits for it.
 */
final class Awaited implements Waiter {
  private final ReentrantLock lock;
  private final Condition woken;
  private final BooleanSupplier over;
  private final BooleanSupplier overWithoutLock = this::isOverOnceLocked;
  private int waiting;

  /**
   * Creates it.
   *
   * @param lock the lock of the connection
   * @param over returns whether the wait is over; called with the lock
   */
  Awaited(ReentrantLock lock, BooleanSupplier over) {
    this.lock = lock;
    this.woken = lock.newCondition();
    this.over = over;
  }

  /** Returns whether the wait is over. Requires the lock. */
  boolean isOver() {
    return over.getAsBoolean();
  }

  /** Returns whether the wait is over, for a thread that does not have the lock. */
  BooleanSupplier isOverWithoutLock() {
    return overWithoutLock;
  }

  private boolean isOverOnceLocked() {
    lock.lock();
    try {
      return isOver();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Wakes one of the threads that wait, if the wait is over now. That one calls this again once it
   * has taken its part, so at most as many threads wake as find something. Requires the lock.
   */
  void wakeNext() {
    if (waiting > 0 && isOver()) {
      woken.signal();
    }
  }

  /** Wakes one of the threads that wait. */
  @Override
  public void wake() {
    woken.signal();
  }

  /** Wakes all threads that wait. Requires the lock. */
  void wakeAll() {
    woken.signalAll();
  }

  /** Sleeps until this is over, or until the end; returns whether it is. Requires the lock. */
  boolean sleep(long end) throws InterruptedException {
    waiting++;
    try {
      long left = end - System.nanoTime();
      while (!isOver()) {
        if (left <= 0) {
          return false;
        }
        left = woken.awaitNanos(left);
      }
      return true;
    } finally {
      waiting--;
    }
  }
}
