package org.rdma4j.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.rdma4j.verbs.MemorySlice;

/**
 * A part of a {@link SlabPool} that is lent as a whole. There is one object for each slab, made
 * with the pool, that serves all uses of the slab in turn.
 *
 * <p>From {@link SlabPool#acquire} to {@link #release} it belongs to whoever acquired it, in any
 * thread; in between every method throws IllegalStateException, a second release too. An object
 * alone cannot tell an earlier use from a later one by someone else: {@link #ticket} does.
 */
public final class Slab {
  private final SlabPool pool;
  private final int index;
  private final MemorySlice slice;
  private final MemorySegment segment;
  private final ByteBuffer byteBuffer;

  Slab(SlabPool pool, int index, MemorySlice slice) {
    this.pool = pool;
    this.index = index;
    this.slice = slice;
    this.segment = slice.segment();
    this.byteBuffer = slice.byteBuffer();
  }

  /**
   * Which slab of the pool this is.
   *
   * @return the index, from 0
   */
  public int index() {
    return index;
  }

  /**
   * What names this use of the slab, and no earlier or later one (but for the one 2 147 483 648
   * uses away): the low half is the index. Meant as the id of a work request: {@link SlabPool#slab}
   * finds the slab again when its completion carries it.
   *
   * @return the ticket
   * @throws IllegalStateException where the slab is not in use
   */
  public long ticket() {
    int turn = pool.free().turn(index);
    if ((turn & 1) == 0) {
      throw notInUse();
    }
    return SlabPool.ticket(index, turn);
  }

  /**
   * The part of the region, for requests and slices of it.
   *
   * @return the part
   * @throws IllegalStateException where the slab is not in use
   */
  public MemorySlice slice() {
    checkInUse();
    return slice;
  }

  /**
   * The memory. It has what the use before left in it.
   *
   * @return its memory
   * @throws IllegalStateException where the slab is not in use, or the pool is closed
   */
  public MemorySegment segment() {
    checkInUse();
    pool.checkOpen();
    return segment;
  }

  /**
   * The memory as a ByteBuffer. There is one for each slab, with the position, limit and order that
   * the use before left: {@code clear()} it first.
   *
   * @return its memory
   * @throws IllegalStateException where the slab is not in use, or the pool is closed
   */
  public ByteBuffer byteBuffer() {
    checkInUse();
    pool.checkOpen();
    return byteBuffer;
  }

  /**
   * The pool that this belongs to.
   *
   * @return the pool
   */
  public SlabPool pool() {
    return pool;
  }

  /**
   * Gives the slab back. It must not be named by a request that is outstanding: the device would
   * write into the next use.
   *
   * @throws IllegalStateException where the slab is not in use
   */
  public void release() {
    if (!pool.free().release(index, pool.free().turn(index))) {
      throw notInUse();
    }
  }

  private void checkInUse() {
    if ((pool.free().turn(index) & 1) == 0) {
      throw notInUse();
    }
  }

  private IllegalStateException notInUse() {
    return new IllegalStateException(this + " is not in use: it was released, or never acquired");
  }

  @Override
  public String toString() {
    return "slab " + index + " of " + pool;
  }
}
