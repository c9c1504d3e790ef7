package org.rdma4j.netty;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts the buffers that users keep, up to a limit. Any thread may give one back. */
final class KeptBuffers {
  private final int limit;
  private final AtomicInteger count = new AtomicInteger();

  KeptBuffers(int limit) {
    this.limit = limit;
  }

  /** Counts one more, unless there are too many; called by one thread. */
  boolean tryAdd() {
    if (count.get() >= limit) {
      return false;
    }
    count.incrementAndGet();
    return true;
  }

  void remove() {
    count.decrementAndGet();
  }
}
