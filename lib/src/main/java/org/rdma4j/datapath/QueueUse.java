package org.rdma4j.datapath;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether several threads use a queue, which then has to take a lock for each post or poll. A lock
 * costs a locked instruction each time, as much as a third of a post in place, and most queues have
 * only one thread.
 *
 * <p>As long as one thread owns all {@link HotCall}s of a queue, and no thread changes the queue,
 * posts and polls ask {@link #isShared} and take no lock. A thread that becomes the second owner,
 * or makes a change, first says that the queue is shared, and then waits until the only owner is
 * outside: from then on the owner takes the lock, too.
 */
public final class QueueUse {
  private final HotCalls calls;

  /** Not volatile: it is read inside a {@link HotCall}, as the owner is. */
  private boolean shared;

  /** How many threads change the queue; guarded by this. */
  private int changes;

  /**
   * The thread that may still be inside a call that takes no lock; guarded by this. It waits for no
   * other thread, so that threads that wait for it do not wait for ever.
   */
  private @Nullable Thread unaware;

  /**
   * Creates the use of a queue that no thread uses yet.
   *
   * @param confinement what lets only one thread at a time use the queue; null if several may
   */
  public QueueUse(@Nullable ThreadConfinement confinement) {
    this.calls = new HotCalls(confinement, this);
  }

  /** Returns all calls of the queue. */
  public HotCalls calls() {
    return calls;
  }

  /** Returns whether a post or poll has to take the lock. To be asked inside a {@link HotCall}. */
  public boolean isShared() {
    return shared;
  }

  /** Records that the current thread has become the owner of a call. */
  void enter() {
    Thread current = Thread.currentThread();
    Thread awaited;
    synchronized (this) {
      Set<Thread> others = calls.owners();
      others.remove(current);
      if (!others.isEmpty()) {
        share(others);
      } else if (changes == 0) {
        shared = false;
      }
      awaited = unaware == current ? null : unaware;
    }
    await(awaited);
  }

  /** Makes a change while each thread that posts or polls takes the lock. */
  public void whileShared(Runnable change) {
    Thread awaited;
    synchronized (this) {
      changes++;
      share(calls.owners());
      awaited = unaware == Thread.currentThread() ? null : unaware;
    }
    try {
      await(awaited);
      change.run();
    } finally {
      synchronized (this) {
        changes--;
        if (changes == 0 && calls.owners().size() <= 1) {
          shared = false;
        }
      }
    }
  }

  private void share(Set<Thread> owners) {
    if (!shared) {
      shared = true;
      unaware = owners.stream().findFirst().orElse(null);
    }
  }

  private void await(@Nullable Thread awaited) {
    if (awaited != null) {
      HotCalls.awaitDone(awaited);
      synchronized (this) {
        if (unaware == awaited) {
          unaware = null;
        }
      }
    }
  }
}
