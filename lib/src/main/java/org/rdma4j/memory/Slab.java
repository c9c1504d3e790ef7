package org.rdma4j.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.rdma4j.lifetime.ReusedMemory;
import org.rdma4j.verbs.MemorySlice;

/**
 * A piece of registered memory that a {@link SlabPool} lends. The pool creates one object for each
 * slab, and reuses it for all uses of the slab.
 *
 * <p>From {@link SlabPool#acquire()} to {@link #release} the slab belongs to the code that acquired
 * it, in any thread. While it is free, methods that use it throw IllegalStateException, and so does
 * a second release. The object cannot distinguish its current use from an earlier one; {@link
 * #ticket} can.
 *
 * @see SlabPool
 */
public final class Slab {
  private final SlabPool pool;
  private final int index;
  private final MemorySlice slice;
  private final MemorySegment segment;
  private final ByteBuffer byteBuffer;
  private final Piece piece = new Piece();

  /** Counts the operations of connections. */
  private final class Piece extends ReusedMemory {
    @Override
    protected boolean isHeld() {
      return isInUse();
    }

    @Override
    protected void giveBack() {
      pool.free().giveBack(index);
    }

    void releaseSlab() {
      release();
    }
  }

  Slab(SlabPool pool, int index, MemorySlice slice) {
    this.pool = pool;
    this.index = index;
    this.slice = slice;
    this.segment = slice.segment();
    this.byteBuffer = slice.byteBuffer();
  }

  /**
   * Returns the index of this slab in its pool.
   *
   * @return the index, from 0
   */
  public int index() {
    return index;
  }

  /**
   * Returns a number that identifies this use of the slab. No earlier or later use has the same
   * number, until it repeats after 2 147 483 648 uses. The low half is the index. Use it as the ID
   * of a work request: when the completion arrives, {@link SlabPool#slab} finds the slab by it.
   *
   * @return the ticket
   * @throws IllegalStateException if the slab is not in use
   */
  public long ticket() {
    int turn = pool.free().turn(index);
    if ((turn & 1) == 0) {
      throw notInUse();
    }
    return SlabPool.ticket(index, turn);
  }

  /**
   * Returns the slab as a part of the memory region, for requests and for smaller slices.
   *
   * @return the slice
   * @throws IllegalStateException if the slab is not in use
   */
  public MemorySlice slice() {
    checkInUse();
    return slice;
  }

  /**
   * Returns the memory. It contains what the previous use left in it.
   *
   * @return the memory
   * @throws IllegalStateException if the slab is not in use, or the pool is closed
   */
  public MemorySegment segment() {
    checkInUse();
    pool.checkOpen();
    return segment;
  }

  /**
   * Returns the memory as a ByteBuffer. Each slab has only one, with the position, limit and byte
   * order that the previous use left, so call {@code clear()} first.
   *
   * @return the memory
   * @throws IllegalStateException if the slab is not in use, or the pool is closed
   */
  public ByteBuffer byteBuffer() {
    checkInUse();
    pool.checkOpen();
    return byteBuffer;
  }

  /**
   * Returns the pool that this slab belongs to.
   *
   * @return the pool
   */
  public SlabPool pool() {
    return pool;
  }

  /**
   * Returns the slab to its pool. If operations of connections on it are in progress, such as a
   * read whose time is over, it is acquired again only after the last one has ended. No outstanding
   * work request of the program itself may use it: the device would read or write the memory of the
   * next use.
   *
   * @throws IllegalStateException if the slab is not in use
   */
  public void release() {
    if (!release(pool.free().turn(index))) {
      throw notInUse();
    }
  }

  /** Ends one use of the slab. Does nothing and returns false if that has ended. */
  boolean release(int turn) {
    boolean ended = pool.free().end(index, turn);
    if (ended) {
      piece.releaseSlab();
    }
    return ended;
  }

  /** Returns what counts the operations on this slab. */
  ReusedMemory piece() {
    return piece;
  }

  private boolean isInUse() {
    return (pool.free().turn(index) & 1) != 0;
  }

  private void checkInUse() {
    if (!isInUse()) {
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
