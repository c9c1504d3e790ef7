package org.rdma4j.datapath;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Sees to it that a queue in a thread domain, whose provider takes no locks, is posted to from one
 * room for requests: that belongs to one thread at a time.
 */
public final class SingleClaim {
  private final boolean inThreadDomain;
  private final AtomicBoolean made = new AtomicBoolean();

  public SingleClaim(boolean inThreadDomain) {
    this.inThreadDomain = inThreadDomain;
  }

  /** Throws where it is the second in a thread domain. */
  public void claim(Object queue, String room) {
    if (inThreadDomain && !made.compareAndSet(false, true)) {
      throw new IllegalStateException(
          queue + " is in a thread domain, where it has one " + room + " for all its life");
    }
  }
}
