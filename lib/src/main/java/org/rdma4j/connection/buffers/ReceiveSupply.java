package org.rdma4j.connection.buffers;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.platform.LockOrder;
import org.rdma4j.verbs.PostException;

/**
 * The receives that are posted to the shared receive queue of a device, and how many of them are
 * promised to peers. No more are promised than are posted, so no message meets an empty queue.
 *
 * <p>All methods may be called from any thread.
 */
public final class ReceiveSupply {
  /** How many buffers may be taken to receive into. */
  enum Limit {
    /** No more than may be in use. */
    OF_THE_POOL,
    /**
     * However many are in use to send from; but not if twice as many were received into as may be
     * in use, and are not free again.
     */
    OF_RECEIVES,
    /** As many as there is memory for. */
    NONE
  }

  private final BufferPool pool;
  private final ReceiveQueue queue;
  private final int chainLength;

  /** The buffers of the chain that is posted. */
  private final Buffer[] taken;

  private final ReentrantLock lock = LockOrder.RECEIVE_SUPPLY.newLock();

  /** The number of receives that are posted: each arrival takes one. */
  private final AtomicInteger posted = new AtomicInteger();

  /** How many of them are promised to no peer. The lock guards this. */
  private int free;

  /** What waits until the queue is not full of promised receives. The lock guards this. */
  private final List<Runnable> waiting = new ArrayList<>();

  /** Whether anything waits. */
  private volatile boolean awaited;

  public ReceiveSupply(BufferPool pool, ReceiveQueue queue) {
    this.pool = pool;
    this.queue = queue;
    this.chainLength = pool.ahead();
    this.taken = new Buffer[chainLength];
  }

  /**
   * Promises receives to a peer, which are posted before this returns.
   *
   * @return whether there are so many; if not, nothing is promised
   */
  public boolean promise(int receives) {
    return promise(receives, Limit.OF_THE_POOL);
  }

  /**
   * Promises receives without which the peer could send nothing, also if that takes more buffers
   * than may be in use.
   *
   * @return whether there are so many; not if the shared receive queue is full, or if too many
   *     buffers that were received into are still in use
   */
  public boolean promiseNeeded(int receives) {
    return promise(receives, Limit.OF_RECEIVES);
  }

  /**
   * Promises one receive, however many buffers are in use.
   *
   * @return whether there is one; not if the shared receive queue is full, or if no more memory can
   *     be registered
   */
  boolean promiseOne() {
    return promise(1, Limit.NONE);
  }

  private boolean promise(int receives, Limit limit) {
    lock.lock();
    try {
      if (receives > free) {
        int missing = receives - free;
        post(limit == Limit.OF_THE_POOL ? Math.max(missing, chainLength) : missing, limit);
      }
      boolean enough = receives <= free;
      if (enough) {
        free -= receives;
      }
      return enough;
    } finally {
      lock.unlock();
    }
  }

  private void post(int wanted, Limit limit) {
    int remaining = Math.min(wanted, queue.depth() - posted.get());
    while (remaining > 0) {
      int chain = 0;
      while (chain < Math.min(remaining, chainLength)) {
        Buffer buffer = pool.tryTakeToReceive(limit);
        if (buffer == null) {
          break;
        }
        taken[chain++] = buffer;
      }
      if (chain == 0) {
        return;
      }
      post(chain);
      remaining -= chain;
    }
  }

  private void replace(int stolen) {
    try {
      post(stolen, Limit.NONE);
    } catch (RuntimeException refused) {
      // The next promise of receives tries again.
      System.getLogger("org.rdma4j")
          .log(Level.WARNING, "receives that a peer took from others were not replaced", refused);
    }
  }

  /** Posts what was added; if that fails, the buffers are free again. */
  private void post(int chain) {
    int accepted = 0;
    try {
      queue.post(taken, chain);
      accepted = chain;
    } catch (RuntimeException refused) {
      if (refused instanceof PostException inC) {
        accepted = inC.index() == PostException.UNKNOWN ? chain : inC.index();
      }
      throw refused;
    } finally {
      posted.addAndGet(accepted);
      free += accepted;
      for (int i = accepted; i < chain; i++) {
        taken[i].free();
      }
    }
  }

  /** Records that a message took one of the receives, which was promised to its sender. */
  public void arrived() {
    posted.decrementAndGet();
    wake();
  }

  /**
   * Records that a receive was taken that was not promised to the sender of the message. If it was
   * promised to another peer, it is replaced, because messages of that peer wait for it.
   */
  public void lost() {
    lock.lock();
    try {
      posted.decrementAndGet();
      free--;
      if (free < 0) {
        replace(-free);
      }
    } finally {
      lock.unlock();
    }
    wake();
  }

  /** Takes promises back that a peer can no longer use. */
  public void withdraw(int receives) {
    lock.lock();
    try {
      free += receives;
    } finally {
      lock.unlock();
    }
    wake();
  }

  /**
   * Runs an action once when receives that could not be promised may be there: when a promised one
   * was used or taken back if the queue is full, otherwise when there is a buffer.
   */
  public void whenPossible(Runnable action) {
    lock.lock();
    try {
      // Before the look, because a message may arrive meanwhile.
      awaited = true;
      if (free == 0 && posted.get() >= queue.depth()) {
        waiting.add(action);
        return;
      }
      awaited = !waiting.isEmpty();
    } finally {
      lock.unlock();
    }
    pool.whenFreed(action);
  }

  private void wake() {
    if (!awaited) {
      return;
    }
    List<Runnable> actions;
    lock.lock();
    try {
      actions = List.copyOf(waiting);
      waiting.clear();
      awaited = false;
    } finally {
      lock.unlock();
    }
    actions.forEach(Runnable::run);
  }

  /** Returns the number of receives that are posted. */
  public int posted() {
    return posted.get();
  }
}
