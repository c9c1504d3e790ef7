package org.rdma4j.datapath;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Ensures that a queue in a thread domain has only one batch of requests. The provider takes no
 * locks for such a queue, so only one thread at a time may post to it, and a batch belongs to one
 * thread.
 */
public final class SingleClaim {
  private final boolean inThreadDomain;
  private final AtomicBoolean claimed = new AtomicBoolean();

  public SingleClaim(boolean inThreadDomain) {
    this.inThreadDomain = inThreadDomain;
  }

  /**
   * Throws IllegalStateException if the queue is in a thread domain and this is the second call.
   */
  public void claim(Object queue, String batch) {
    if (inThreadDomain && !claimed.compareAndSet(false, true)) {
      throw new IllegalStateException(
          queue + " is in a thread domain and can create only one " + batch + "; use that one");
    }
  }
}
