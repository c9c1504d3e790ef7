package org.rdma4j.cm;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.platform.LockOrder;

/**
 * A native event channel, separate from the object that users hold. Its lock lets only one thread
 * at a time make a call on the channel's identifiers or read its events: librdmacm changes the
 * state of an identifier's queue pair while it reads an event, and would otherwise use a queue pair
 * that another thread is destroying.
 */
final class NativeChannel {
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final MemorySegment channel;
  private final ReentrantLock lock = LockOrder.CHANNEL_OF_EVENTS.newLock();

  /** Defines the order in which the locks of two channels are taken. */
  private final long number = NUMBERS.getAndIncrement();

  /**
   * The identifiers of the channel by address. The reference is weak because lifetimes refer to
   * this object, and lifetimes must not keep the users' objects reachable.
   */
  private final WeakReference<Map<Long, CmId>> ids;

  NativeChannel(MemorySegment channel, Map<Long, CmId> ids) {
    this.channel = channel;
    this.ids = new WeakReference<>(ids);
  }

  MemorySegment pointer() {
    return channel;
  }

  void lock() {
    lock.lock();
  }

  void unlock() {
    lock.unlock();
  }

  /** Takes the locks of two channels, which may be the same channel. */
  static void lock(NativeChannel one, NativeChannel other) {
    boolean inOrder = one.number < other.number;
    (inOrder ? one : other).lock();
    (inOrder ? other : one).lock();
  }

  static void unlock(NativeChannel one, NativeChannel other) {
    one.unlock();
    other.unlock();
  }

  /** Adds an identifier, which events can find from now on. The caller holds the lock. */
  void add(MemorySegment id, CmId object) {
    Map<Long, CmId> known = ids.get();
    if (known != null) {
      known.put(id.address(), object);
    }
  }

  /** Removes an identifier, which events can no longer find. The caller holds the lock. */
  void remove(MemorySegment id) {
    Map<Long, CmId> known = ids.get();
    if (known != null) {
      known.remove(id.address());
    }
  }
}
