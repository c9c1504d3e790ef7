package org.rdma4j.verbs;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Which of a number of slabs are free: a stack of their indices without a lock, and for each slab
 * how often it changed hands. Nothing here allocates.
 *
 * <p>Each change of the stack's top gives it a new tag, so that a thread that was stopped between
 * looking and changing cannot take a top for the one it saw only because it is the same slab again.
 */
final class FreeSlabs {
  /** What {@link #tryAcquire} returns where no slab is free. */
  static final int NONE = -1;

  /** Of the top's 64 bits these tell the slab, the others are the tag. */
  private static final int INDEX_BITS = 24;

  static final int MOST = (1 << INDEX_BITS) - 1;

  private static final long INDEX_MASK = MOST;
  private static final long ONE_TAG = 1L << INDEX_BITS;

  /** The slab below each slab of the stack, plus 1; 0 at the bottom. */
  private final int[] below;

  /** How many slabs the stack had with that one on top. */
  private final int[] height;

  /** Odd while the slab is in use. */
  private final AtomicIntegerArray turns;

  /** The slab on top, plus 1, and the tag. */
  private final AtomicLong top = new AtomicLong();

  FreeSlabs(int count) {
    below = new int[count];
    height = new int[count];
    turns = new AtomicIntegerArray(count);
    // The first slab on top, so that a pool of which little is used touches little memory.
    for (int index = count - 1; index >= 0; index--) {
      push(index);
    }
  }

  /** Takes a slab that is free; {@link #NONE} where there is none. */
  int tryAcquire() {
    while (true) {
      long seen = top.get();
      int index = (int) (seen & INDEX_MASK) - 1;
      if (index < 0) {
        return NONE;
      }
      long next = (seen & ~INDEX_MASK) + ONE_TAG + below[index];
      if (top.compareAndSet(seen, next)) {
        turns.set(index, turns.get(index) + 1);
        return index;
      }
    }
  }

  /** Which turn of the slab this is, to tell an earlier use from a later one: odd while in use. */
  int turn(int index) {
    return turns.get(index);
  }

  /** Whether it is in use for that turn. */
  boolean isInUse(int index, int turn) {
    return (turn & 1) != 0 && turn(index) == turn;
  }

  /** Gives a slab back; false, without effect, where it is not in use for that turn. */
  boolean release(int index, int turn) {
    if ((turn & 1) == 0 || !turns.compareAndSet(index, turn, turn + 1)) {
      return false;
    }
    push(index);
    return true;
  }

  private void push(int index) {
    while (true) {
      long seen = top.get();
      int under = (int) (seen & INDEX_MASK);
      below[index] = under;
      height[index] = under == 0 ? 1 : height[under - 1] + 1;
      long next = (seen & ~INDEX_MASK) + ONE_TAG + (index + 1);
      if (top.compareAndSet(seen, next)) {
        return;
      }
    }
  }

  /** How many are free, exact at some moment during the call. */
  int free() {
    while (true) {
      long seen = top.get();
      int index = (int) (seen & INDEX_MASK) - 1;
      int free = index < 0 ? 0 : height[index];
      // Or the height might be read after the second look.
      VarHandle.loadLoadFence();
      if (top.get() == seen) {
        return free;
      }
    }
  }
}
