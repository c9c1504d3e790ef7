package org.rdma4j.cm;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A native event channel, apart from the object that users hold. Its lock keeps the calls on its
 * identifiers apart: librdmacm changes the state of an identifier's queue pair while it reads an
 * event, and would use one that another thread destroys meanwhile.
 */
final class NativeChannel {
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final MemorySegment channel;
  private final ReentrantLock lock = new ReentrantLock();

  /** The order in which two locks are taken. */
  private final long number = NUMBERS.getAndIncrement();

  /** Weakly, as lifetimes refer to this, and must not keep the users' objects reachable. */
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

  /** Takes the locks of two channels, which may be the same. */
  static void lock(NativeChannel one, NativeChannel other) {
    boolean inOrder = one.number < other.number;
    (inOrder ? one : other).lock();
    (inOrder ? other : one).lock();
  }

  static void unlock(NativeChannel one, NativeChannel other) {
    one.unlock();
    other.unlock();
  }

  /** Lets events find the identifier; with the lock. */
  void add(MemorySegment id, CmId object) {
    Map<Long, CmId> known = ids.get();
    if (known != null) {
      known.put(id.address(), object);
    }
  }

  /** Lets events find it no more; with the lock. */
  void remove(MemorySegment id) {
    Map<Long, CmId> known = ids.get();
    if (known != null) {
      known.remove(id.address());
    }
  }
}
