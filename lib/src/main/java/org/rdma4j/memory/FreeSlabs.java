package org.rdma4j.memory;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The free slabs of a pool: lock-free stacks of their indices, and for each slab the number of its
 * acquisitions and releases. Nothing here allocates.
 *
 * <p>A thread takes slabs from one stack and returns them to it, so threads with different stacks
 * do not slow each other down. Only if this stack is empty, the thread looks at the others.
 *
 * <p>Each change of the top of a stack gives it a new tag. Otherwise a thread that was stopped
 * between reading and changing a top could mistake a newer top for the top that it read, because
 * the same slab is on top again. If two passes over all tops find the same tags, nothing has
 * changed in between.
 */
final class FreeSlabs {
  /** The result of {@link #tryAcquire} if no slab is free. */
  static final int NONE = -1;

  /** The number of bits of a top that hold the index of the slab; the other bits hold the tag. */
  private static final int INDEX_BITS = 24;

  static final int MAX = (1 << INDEX_BITS) - 1;

  private static final long INDEX_MASK = MAX;
  private static final long ONE_TAG = 1L << INDEX_BITS;

  /** Several stacks per processor, because threads are assigned to stacks by chance. */
  private static final int STACKS =
      Math.min(64, Integer.highestOneBit(4 * Runtime.getRuntime().availableProcessors()));

  /**
   * The distance between tops, as a shift: two cache lines, because processors fetch lines in
   * pairs.
   */
  private static final int TOP_SHIFT = 4;

  /**
   * The same distance in ints: the unused part of each array between its header and the first slab.
   */
  private static final int PADDING = 32;

  /** The index of the slab below each slab in its stack, plus 1; 0 at the bottom. */
  private final int[] below;

  /** The number of slabs in the stack when this slab was on top. */
  private final int[] height;

  /** The number of acquisitions and releases of each slab: odd while it is in use. */
  private final AtomicIntegerArray turns;

  /** For each stack, the index of the slab on top plus 1, and the tag. */
  private final AtomicLongArray tops;

  private final int stacks;
  private final SlabWaiters waiters = new SlabWaiters();

  FreeSlabs(int count) {
    stacks = Math.min(STACKS, Integer.highestOneBit(count));
    below = new int[PADDING + count];
    height = new int[PADDING + count];
    turns = new AtomicIntegerArray(PADDING + count);
    tops = new AtomicLongArray((stacks + 1) << TOP_SHIFT);
    // The first slabs are on top, so that a pool with few slabs in use touches little memory.
    for (int index = count - 1; index >= 0; index--) {
      push((int) ((long) index * stacks / count), index);
    }
  }

  private int stack() {
    return (int) Thread.currentThread().threadId() & (stacks - 1);
  }

  /** Takes a free slab, and returns its index; {@link #NONE} if no slab is free. */
  int tryAcquire() {
    int stack = stack();
    int index = tryPop(stack);
    return index == NONE ? tryPopAnyFrom(stack) : index;
  }

  private int tryPopAnyFrom(int first) {
    long before = -1;
    while (true) {
      long changes = 0;
      for (int i = first; i < first + stacks; i++) {
        int stack = i & (stacks - 1);
        changes += tag(top(stack));
        int index = tryPop(stack);
        if (index != NONE) {
          return index;
        }
      }
      if (changes == before) {
        return NONE;
      }
      before = changes;
    }
  }

  private int tryPop(int stack) {
    while (true) {
      long seen = top(stack);
      int index = index(seen);
      if (index == NONE) {
        return NONE;
      }
      if (change(stack, seen, below[PADDING + index])) {
        // No other thread changes an even turn, and whatever publishes the slab is written after
        // this.
        turns.setRelease(PADDING + index, turn(index) + 1);
        return index;
      }
    }
  }

  /**
   * Returns the turn of a slab, which distinguishes earlier from later uses: odd while it is in
   * use.
   */
  int turn(int index) {
    return turns.get(PADDING + index);
  }

  /** Returns whether a slab is in use, and this is its turn. */
  boolean isInUse(int index, int turn) {
    return (turn & 1) != 0 && turn(index) == turn;
  }

  /**
   * Ends the use of a slab, which {@link #giveBack} makes free. Does nothing and returns false if
   * it is not in use in that turn.
   */
  boolean end(int index, int turn) {
    return (turn & 1) != 0 && turns.compareAndSet(PADDING + index, turn, turn + 1);
  }

  /** Makes a slab free whose use has ended. */
  void giveBack(int index) {
    push(stack(), index);
    waiters.released();
  }

  /** Returns the threads that wait until a slab is free. */
  SlabWaiters waiters() {
    return waiters;
  }

  private void push(int stack, int index) {
    while (true) {
      long seen = top(stack);
      int under = index(seen);
      below[PADDING + index] = under + 1;
      height[PADDING + index] = heightOf(under) + 1;
      if (change(stack, seen, index + 1)) {
        return;
      }
    }
  }

  /** Returns the number of free slabs, which is exact for some moment during the call. */
  int free() {
    long before = changes();
    while (true) {
      int free = 0;
      for (int stack = 0; stack < stacks; stack++) {
        free += heightOf(index(top(stack)));
      }
      // Without this, a height could be read after the tags.
      VarHandle.loadLoadFence();
      long changes = changes();
      if (changes == before) {
        return free;
      }
      before = changes;
    }
  }

  /**
   * Returns how often the tops have changed. The tops are read one after the other, so the sum is
   * exact only if a second call returns the same.
   */
  long changes() {
    long changes = 0;
    for (int stack = 0; stack < stacks; stack++) {
      changes += tag(top(stack));
    }
    return changes;
  }

  private int heightOf(int index) {
    return index == NONE ? 0 : height[PADDING + index];
  }

  private long top(int stack) {
    return tops.get((stack + 1) << TOP_SHIFT);
  }

  private boolean change(int stack, long seen, int top) {
    return tops.compareAndSet((stack + 1) << TOP_SHIFT, seen, (seen & ~INDEX_MASK) + ONE_TAG + top);
  }

  private static int index(long top) {
    return (int) (top & INDEX_MASK) - 1;
  }

  private static long tag(long top) {
    return top >>> INDEX_BITS;
  }
}
