package org.rdma4j.connection;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;

/**
 * Buffers for messages that are too long for a {@link BufferPool}, each of which is a memory
 * region. Their lengths are powers of two. Some of those that are not in use are kept, because
 * registering memory takes longer than transferring it.
 *
 * <p>All methods may be called from any thread.
 */
final class LargeBuffers implements Slot.Home {
  /** The memory that is kept at most while it is not in use. */
  private static final long MAX_KEPT = 64L << 20;

  private final ProtectionDomain domain;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Deque<Slot>> keptByClass = new ArrayList<>();
  private long kept;
  private long registered;

  LargeBuffers(ProtectionDomain domain) {
    this.domain = domain;
    for (int i = 0; i <= Long.SIZE; i++) {
      keptByClass.add(new ArrayDeque<>());
    }
  }

  private static int sizeClass(long bytes) {
    return Long.SIZE - Long.numberOfLeadingZeros(bytes - 1);
  }

  /** Returns the number of bytes that are registered. */
  long registeredBytes() {
    lock.lock();
    try {
      return registered;
    } finally {
      lock.unlock();
    }
  }

  /** Returns a buffer with room for a message of this length, which is at least 2. */
  Slot take(long bytes) {
    int sizeClass = sizeClass(bytes);
    lock.lock();
    try {
      Slot known = keptByClass.get(sizeClass).pollLast();
      if (known != null) {
        kept -= known.capacity();
        return known;
      }
    } finally {
      lock.unlock();
    }
    long capacity = 1L << sizeClass;
    MemoryRegion region =
        domain.register(
            MessageHeader.BYTES + capacity, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    lock.lock();
    try {
      registered += capacity;
    } finally {
      lock.unlock();
    }
    return new Slot(this, sizeClass, region, 0, capacity);
  }

  @Override
  public void giveBack(Slot buffer) {
    if (!keep(buffer)) {
      buffer.region().close();
    }
  }

  private boolean keep(Slot buffer) {
    lock.lock();
    try {
      boolean keeps = kept + buffer.capacity() <= MAX_KEPT;
      if (keeps) {
        kept += buffer.capacity();
        keptByClass.get(buffer.index()).addLast(buffer);
      } else {
        registered -= buffer.capacity();
      }
      return keeps;
    } finally {
      lock.unlock();
    }
  }
}
