package org.rdma4j.memory;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which of a number of slabs are free: stacks of their indices without a lock, and for each slab
 * how often it changed hands. Nothing here allocates.
 *
 * <p>A thread takes from one stack and gives back to it, so that threads with slabs of their own do
 * not meet; only where it finds nothing there it looks at the others.
 *
 * <p>Each change of a stack's top gives it a new tag, so that a thread that was stopped between
 * looking and changing cannot take a top for the one it saw only because it is the same slab again.
 * Where two looks at all tops find the same tags nothing has changed in between.
 */
final class FreeSlabs {
  /** What {@link #tryAcquire} returns where no slab is free. */
  static final int NONE = -1;

  /** Of a top's 64 bits these tell the slab, the others are the tag. */
  private static final int INDEX_BITS = 24;

  static final int MAX = (1 << INDEX_BITS) - 1;

  private static final long INDEX_MASK = MAX;
  private static final long ONE_TAG = 1L << INDEX_BITS;

  /** Several for each processor, as threads share a stack by chance. */
  private static final int STACKS =
      Math.min(64, Integer.highestOneBit(4 * Runtime.getRuntime().availableProcessors()));

  /** Two cache lines, which processors fetch together, in longs: tops lie so far apart. */
  private static final int TOP_SHIFT = 4;

  /** The same in ints: so much of each array lies unused between its length and the first slab. */
  private static final int PADDING = 32;

  /** The slab below each slab of a stack, plus 1; 0 at the bottom. */
  private final int[] below;

  /** How many slabs the stack had with that one on top. */
  private final int[] height;

  /** Odd while the slab is in use. */
  private final AtomicIntegerArray turns;

  /** For each stack the slab on top, plus 1, and the tag. */
  private final AtomicLongArray tops;

  private final int stacks;
  private final SlabWaiters waiters = new SlabWaiters();

  FreeSlabs(int count) {
    stacks = Math.min(STACKS, Integer.highestOneBit(count));
    below = new int[PADDING + count];
    height = new int[PADDING + count];
    turns = new AtomicIntegerArray(PADDING + count);
    tops = new AtomicLongArray((stacks + 1) << TOP_SHIFT);
    // The first slabs on top, so that a pool of which little is used touches little memory.
    for (int index = count - 1; index >= 0; index--) {
      push((int) ((long) index * stacks / count), index);
    }
  }

  private int stack() {
    return (int) Thread.currentThread().threadId() & (stacks - 1);
  }

  /** Takes a slab that is free; {@link #NONE} where there is none. */
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
        // Nobody else changes an even turn, and what tells of the slab is written behind this.
        turns.setRelease(PADDING + index, turn(index) + 1);
        return index;
      }
    }
  }

  /** Which turn of the slab this is, to tell an earlier use from a later one: odd while in use. */
  int turn(int index) {
    return turns.get(PADDING + index);
  }

  /** Whether it is in use for that turn. */
  boolean isInUse(int index, int turn) {
    return (turn & 1) != 0 && turn(index) == turn;
  }

  /** Gives a slab back; false, without effect, where it is not in use for that turn. */
  boolean release(int index, int turn) {
    if ((turn & 1) == 0 || !turns.compareAndSet(PADDING + index, turn, turn + 1)) {
      return false;
    }
    push(stack(), index);
    waiters.released();
    return true;
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

  /** How many are free, exact at some moment during the call. */
  int free() {
    int free = 0;
    long before = -1;
    while (true) {
      int counted = 0;
      long changes = 0;
      for (int stack = 0; stack < stacks; stack++) {
        long seen = top(stack);
        counted += heightOf(index(seen));
        changes += tag(seen);
      }
      if (changes == before) {
        return free;
      }
      free = counted;
      before = changes;
      // Or a height might be read after the second look.
      VarHandle.loadLoadFence();
    }
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
