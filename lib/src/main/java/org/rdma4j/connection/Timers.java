package org.rdma4j.connection;

import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** What a loop does at given times. All methods may be called from any thread. */
final class Timers {
  private final PriorityQueue<LoopTimer> waiting = new PriorityQueue<>(LoopTimer::compare);
  private long count;

  /** What is due first; null if nothing waits. */
  private volatile @Nullable LoopTimer first;

  /** Adds an action; returns what can cancel it. */
  synchronized LoopTimer add(long due, Runnable action) {
    LoopTimer added = new LoopTimer(this, action, due, count++);
    waiting.add(added);
    first = waiting.peek();
    return added;
  }

  synchronized boolean remove(LoopTimer timer) {
    boolean removed = waiting.remove(timer);
    first = waiting.peek();
    return removed;
  }

  /** Returns the earlier of a time and of when the next action is due. */
  long before(long end) {
    LoopTimer next = first;
    return next == null || end - next.due() < 0 ? end : next.due();
  }

  /** Returns whether an action is due. */
  boolean isDue() {
    LoopTimer next = first;
    return next != null && System.nanoTime() - next.due() >= 0;
  }

  /**
   * Runs what is due, up to a number; returns how much that was. What an action adds is not due
   * before the next call, so that it cannot keep the thread here.
   */
  int run(int most) {
    if (first == null) {
      return 0;
    }
    long now = System.nanoTime();
    long last;
    synchronized (this) {
      last = count;
    }
    int done = 0;
    LoopTimer next = take(now, last);
    while (next != null) {
      next.run();
      done++;
      next = done < most ? take(now, last) : null;
    }
    return done;
  }

  private synchronized @Nullable LoopTimer take(long now, long last) {
    LoopTimer next = waiting.peek();
    if (next == null || now - next.due() < 0 || next.number() >= last) {
      return null;
    }
    waiting.poll();
    first = waiting.peek();
    return next;
  }
}
