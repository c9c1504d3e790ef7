package org.rdma4j.platform;

import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Lets threads wait for different things that come from one source, without a thread of its own.
 * One waiting thread at a time fetches from the source and delivers to all of them; the others
 * sleep. When the fetching thread leaves, for whatever reason, another waiting thread takes over.
 *
 * <p>The caller's lock guards this object and whatever its waits depend on: every method here
 * requires it. The lock is free while a thread sleeps or fetches.
 *
 * @param <T> what one fetch returns
 */
public final class SharedPolling<T> {
  /** The source of what the threads wait for. One thread at a time calls its methods. */
  public interface Source<T> {
    /**
     * Waits until something has come or the deadline is over, and returns what has come. Called
     * without the lock.
     */
    T fetch(Deadline deadline) throws InterruptedException;

    /**
     * Records what was fetched, and wakes the threads that wait for it. Called with the lock, by
     * the thread that fetched.
     */
    void deliver(T fetched);

    /**
     * Ends this thread's turn: another thread may make the next fetch. Called with the lock after
     * each fetch, also after one that failed.
     */
    default void endTurn() {}
  }

  /** The threads that wait for the same thing. */
  public static final class Waiters {
    private final Condition condition;
    private int count;

    private Waiters(Condition condition) {
      this.condition = condition;
    }

    /** Returns whether no thread waits. */
    public boolean isEmpty() {
      return count == 0;
    }

    /** Wakes the thread that has slept longest, if any, to check whether its wait is over. */
    public void wakeOne() {
      condition.signal();
    }

    /** Wakes all threads, to check whether their waits are over. */
    public void wakeAll() {
      condition.signalAll();
    }
  }

  private final ReentrantLock lock;
  private final Source<T> source;

  /** Those that are not empty, the longest-waiting first. */
  private final SequencedSet<Waiters> waiting = new LinkedHashSet<>();

  private boolean fetching;

  public SharedPolling(ReentrantLock lock, Source<T> source) {
    this.lock = lock;
    this.source = source;
  }

  /** Returns an empty set of threads, for one thing to wait for. */
  public Waiters newWaiters() {
    return new Waiters(lock.newCondition());
  }

  /** Wakes every waiting thread, to check whether its wait is over. */
  public void wakeAll() {
    waiting.forEach(Waiters::wakeAll);
  }

  /**
   * Waits until a condition holds. If the deadline is already over, this still fetches once, unless
   * another thread is fetching.
   *
   * @param waiters the threads to join, which {@link Source#deliver} wakes when the condition may
   *     hold
   * @param done the condition, evaluated with the lock
   * @return whether the condition holds; false if the deadline came first
   * @throws InterruptedException if the thread is interrupted while it sleeps or fetches
   */
  public boolean await(Waiters waiters, BooleanSupplier done, Deadline deadline)
      throws InterruptedException {
    if (done.getAsBoolean()) {
      return true;
    }
    join(waiters);
    try {
      return fetchOrSleepUntil(waiters, done, deadline);
    } finally {
      leave(waiters);
      wakeNextToFetch();
    }
  }

  private boolean fetchOrSleepUntil(Waiters waiters, BooleanSupplier done, Deadline deadline)
      throws InterruptedException {
    boolean last = false;
    while (!done.getAsBoolean()) {
      if (last) {
        return false;
      }
      last = deadline.isOver();
      if (!fetching) {
        fetch(deadline);
      } else if (!last) {
        waiters.condition.awaitNanos(deadline.nanos());
      }
    }
    return true;
  }

  private void fetch(Deadline deadline) throws InterruptedException {
    fetching = true;
    try {
      source.deliver(fetchWithoutLock(deadline));
    } finally {
      fetching = false;
      source.endTurn();
    }
  }

  private T fetchWithoutLock(Deadline deadline) throws InterruptedException {
    lock.unlock();
    try {
      return source.fetch(deadline);
    } finally {
      lock.lock();
    }
  }

  private void join(Waiters waiters) {
    if (waiters.count++ == 0) {
      waiting.add(waiters);
    }
  }

  private void leave(Waiters waiters) {
    if (--waiters.count == 0) {
      waiting.remove(waiters);
    }
  }

  /**
   * Wakes one thread to take over. If those of the first set are all awake already, each of them
   * fetches or leaves as soon as it has the lock, and comes here when it leaves.
   */
  private void wakeNextToFetch() {
    if (!fetching && !waiting.isEmpty()) {
      waiting.getFirst().wakeOne();
    }
  }
}
