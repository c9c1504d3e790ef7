package org.rdma4j.connection;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.verbs.PostException;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SharedReceiveQueue;

/**
 * The receives that are posted to the shared receive queue of a device, and how many of them are
 * promised to peers. No more are promised than are posted, so no message meets an empty queue.
 *
 * <p>All methods may be called from any thread.
 */
final class ReceiveSupply {
  /** Marks the ids of receives; the rest of the id is the index of the buffer. */
  static final long RECEIVE = Long.MIN_VALUE;

  private final BufferPool pool;
  private final SharedReceiveQueue queue;
  private final int chainLength;
  private final ReceiveRequests requests;

  /** The buffers of the chain that is posted. */
  private final Slot[] taken;

  private final ReentrantLock lock = new ReentrantLock();

  /** The number of receives that are posted: each arrival takes one. */
  private final AtomicInteger posted = new AtomicInteger();

  /** How many of them are promised to nobody. The lock guards this. */
  private int free;

  ReceiveSupply(BufferPool pool, SharedReceiveQueue queue) {
    this.pool = pool;
    this.queue = queue;
    this.chainLength = pool.ahead();
    this.requests = queue.receiveRequests(chainLength);
    this.taken = new Slot[chainLength];
  }

  /**
   * Promises receives to a peer, which are posted before this returns.
   *
   * @return whether there are so many; if not, nothing is promised
   */
  boolean promise(int receives) {
    return promise(receives, false);
  }

  /**
   * Promises receives without which the peer could send nothing, also if that takes more buffers
   * than there may be. If threads that wait to send have all buffers, they wait for credits, for
   * which there would be no receives.
   *
   * @return whether there are so many; not if the shared receive queue is full, or if twice as many
   *     buffers are in use as there may be
   */
  boolean promiseNeeded(int receives) {
    return promise(receives, true);
  }

  private boolean promise(int receives, boolean needed) {
    lock.lock();
    try {
      if (receives > free) {
        int missing = receives - free;
        post(needed ? missing : Math.max(missing, chainLength), needed);
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

  private void post(int wanted, boolean needed) {
    int remaining = Math.min(wanted, queue.depth() - posted.get());
    while (remaining > 0) {
      int chain = 0;
      while (chain < Math.min(remaining, chainLength)) {
        Slot buffer = needed ? pool.tryTakeNeeded() : pool.tryTake();
        if (buffer == null) {
          break;
        }
        taken[chain] = buffer;
        requests
            .add(RECEIVE | buffer.index())
            .into(buffer.region(), buffer.header(), MessageHeader.BYTES + buffer.capacity());
        chain++;
      }
      if (chain == 0) {
        return;
      }
      post(chain);
      remaining -= chain;
    }
  }

  /** Posts what was added; if that fails, the buffers are free again. */
  private void post(int chain) {
    int accepted = 0;
    try {
      requests.post();
      accepted = chain;
    } catch (RuntimeException refused) {
      if (refused instanceof PostException inC) {
        accepted = inC.index() == PostException.UNKNOWN ? chain : inC.index();
      }
      requests.clear();
      throw refused;
    } finally {
      requests.release();
      posted.addAndGet(accepted);
      free += accepted;
      for (int i = accepted; i < chain; i++) {
        taken[i].free();
      }
    }
  }

  /** Notes that a message took one of the receives, which was promised to its sender. */
  void arrived() {
    posted.decrementAndGet();
  }

  /** Notes that a receive was taken that was promised to nobody, or no longer. */
  void lost() {
    lock.lock();
    try {
      posted.decrementAndGet();
      free--;
    } finally {
      lock.unlock();
    }
  }

  /** Takes promises back that a peer can no longer use. */
  void withdraw(int receives) {
    lock.lock();
    try {
      free += receives;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of receives that are posted. */
  int posted() {
    return posted.get();
  }
}
