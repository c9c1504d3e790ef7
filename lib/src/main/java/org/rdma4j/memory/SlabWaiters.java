package org.rdma4j.memory;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.platform.Deadline;

/**
 * The threads that wait until a slab is free. A release costs one read of a field as long as no
 * thread waits.
 *
 * <p>Why no thread misses a release: a releasing thread makes its slab free, then reads {@link
 * #anyWaiting}. A waiting thread sets {@code anyWaiting}, then looks for a free slab. All four
 * accesses are volatile, so all threads agree on their order. If the release reads {@code false},
 * its read came before the thread set {@code anyWaiting}, so the slab was free before the thread
 * looked. If it reads {@code true}, it takes the lock to signal. The waiting thread holds the lock
 * from before its look until it waits for a signal, so the signal reaches it. On x86-64 a volatile
 * read is an ordinary load, and it needs no fence here because the release before it is a
 * compare-and-set.
 */
final class SlabWaiters {
  /** Fair, or a thread that releases and acquires in a loop would overtake waiting threads. */
  private final ReentrantLock lock = new ReentrantLock(true);

  private final Condition changed = lock.newCondition();

  /** The number of waiting threads, guarded by the lock. */
  private int count;

  /** Whether there are waiting threads; written with the lock held. */
  private volatile boolean anyWaiting;

  /** Returns whether threads wait, which should get the next slabs. */
  boolean anyWaiting() {
    return anyWaiting;
  }

  /** Wakes a thread if one waits; called after a slab became free. */
  void released() {
    if (anyWaiting) {
      wakeOne();
    }
  }

  private void wakeOne() {
    lock.lock();
    try {
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Makes all waiting threads check again that the pool is open. */
  void wakeAll() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a free slab, and waits until there is one.
   *
   * @param checkOpen throws if the pool is closed
   * @return the slab; {@link FreeSlabs#NONE} if none was free until the deadline
   * @throws InterruptedException if the thread is interrupted, also before it waits
   */
  int acquire(FreeSlabs slabs, Deadline deadline, Runnable checkOpen) throws InterruptedException {
    lock.lockInterruptibly();
    count++;
    anyWaiting = true;
    try {
      while (true) {
        checkOpen.run();
        int index = slabs.tryAcquire();
        long nanos = deadline.nanos();
        if (index != FreeSlabs.NONE || nanos == 0) {
          return index;
        }
        changed.awaitNanos(nanos);
      }
    } finally {
      count--;
      anyWaiting = count > 0;
      lock.unlock();
    }
  }
}
