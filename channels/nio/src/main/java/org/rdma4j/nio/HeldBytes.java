package org.rdma4j.nio;

import java.nio.ByteBuffer;

/**
 * The last bytes that a channel has sent over RDMA, which can be sent again over TCP. It holds at
 * most a fixed number of them, because more are not in flight at the same time, and fewer if the
 * {@link MemoryBudget} has no more for it. If the peer lacks more than are held, the connection
 * cannot resume.
 */
final class HeldBytes {
  /** The maximum number of bytes. More than a stream has outstanding. */
  static final int MOST = 2 << 20;

  private static final int FIRST = 4 << 10;

  private final MemoryBudget budget;
  private byte[] ring = {};

  /** How many bytes were added since the begin. */
  private long sent;

  private int count;
  private boolean frozen;
  private boolean ended;

  HeldBytes(MemoryBudget budget) {
    this.budget = budget;
  }

  /**
   * Adds the first bytes of several buffers, and does not move the positions of these.
   *
   * @return false if they must not be sent, because it is frozen
   */
  synchronized boolean add(ByteBuffer[] sources, int from, int bytes) {
    if (frozen) {
      return false;
    }
    if (ended) {
      return true;
    }
    reserve(bytes);
    int left = bytes;
    long at = sent;
    for (int i = from; left > 0 && ring.length > 0; i++) {
      ByteBuffer source = sources[i];
      int length = Math.min(source.remaining(), left);
      int copied = 0;
      while (copied < length) {
        int place = (int) (at & (ring.length - 1));
        int part = Math.min(length - copied, ring.length - place);
        source.get(source.position() + copied, ring, place, part);
        copied += part;
        at += part;
      }
      left -= length;
    }
    sent += bytes;
    count = Math.min(count + bytes, ring.length);
    return true;
  }

  /** Makes room if there is memory. The length is always a power of two, or 0. */
  private void reserve(int bytes) {
    int needed = Math.min(count + bytes, MOST);
    if (needed <= ring.length) {
      return;
    }
    int length = Math.max(FIRST, Integer.highestOneBit(needed - 1) << 1);
    if (!budget.tryHold(length - ring.length)) {
      return;
    }
    byte[] larger = new byte[length];
    for (int i = count; i > 0; ) {
      int place = (int) ((sent - i) & (ring.length - 1));
      int target = (int) ((sent - i) & (length - 1));
      int part = Math.min(i, Math.min(ring.length - place, length - target));
      System.arraycopy(ring, place, larger, target, part);
      i -= part;
    }
    ring = larger;
  }

  /**
   * Takes back the bytes that were added last, because they were not sent.
   *
   * @return whether they were taken back; false once it is frozen
   */
  synchronized boolean remove(int bytes) {
    if (frozen) {
      return false;
    }
    sent -= bytes;
    count = Math.max(0, count - bytes);
    return true;
  }

  /** Forgets all bytes before a position, counted from the begin: the peer's process has them. */
  synchronized void delivered(long position) {
    if (!frozen) {
      count = (int) Math.min(count, sent - position);
    }
  }

  /** Returns whether it holds memory. */
  synchronized boolean holdsMemory() {
    return ring.length > 0;
  }

  /** Gives the memory back if it holds no bytes. */
  synchronized void shrink() {
    if (!frozen && count == 0) {
      clear();
    }
  }

  private void clear() {
    budget.holdsNoMore(ring.length);
    count = 0;
    ring = new byte[0];
  }

  /** Holds nothing from now on, because it cannot be sent again any more. */
  synchronized void end() {
    ended = true;
    frozen = false;
    clear();
  }

  /** Takes no more bytes, and forgets none. */
  synchronized void freeze() {
    frozen = true;
  }

  /** Returns the number of bytes that were added since the begin. */
  synchronized long sent() {
    return sent;
  }

  /** Returns the number of bytes that it holds. */
  synchronized int count() {
    return count;
  }

  /** Returns the last bytes, and forgets all. It must be frozen. */
  synchronized ByteBuffer takeLast(int bytes) {
    byte[] last = new byte[bytes];
    for (int i = bytes; i > 0; ) {
      int place = (int) ((sent - i) & (ring.length - 1));
      int part = Math.min(i, ring.length - place);
      System.arraycopy(ring, place, last, bytes - i, part);
      i -= part;
    }
    clear();
    return ByteBuffer.wrap(last);
  }
}
