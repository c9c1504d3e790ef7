package org.rdma4j.connection.buffers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.lifetime.ReusedPieces;

/**
 * The buffers of one length that all connections of a device share, to send from and to receive
 * into. It registers more memory when all are in use, up to a maximum.
 *
 * <p>All methods may be called from any thread.
 */
public final class BufferPool implements Buffer.Home {
  /** The most buffers, and about the most bytes, that are registered at a time. */
  private static final int MAX_CHUNK = 64;

  private static final long CHUNK_BYTES = 4 << 20;

  /** The part of the buffers that users get also while receives take all the others. */
  private static final int RESERVE = 8;

  /** Every buffer starts at a cache line of its own. */
  private static final int ALIGNMENT = 64;

  private final BufferMemory.Source source;
  private final int bufferBytes;
  private final long stride;
  private final int chunk;
  private final int max;
  private final ReentrantLock lock = new ReentrantLock();

  /** Signaled when there may be a buffer for a thread that waits. */
  private final Condition freed = lock.newCondition();

  private final List<Runnable> waiting = new ArrayList<>();
  private volatile Buffer[] all = {};
  private Buffer[] free = {};
  private int freeCount;

  /** How many were taken to receive into, and are not free again, also if they are sent on. */
  private int receiving;

  /** Why the last attempt to register more memory failed; null if it did not. */
  private @Nullable RdmaException noMemory;

  /**
   * Creates a pool without buffers.
   *
   * @param bufferBytes the number of bytes after the header in each buffer
   * @param max the number of buffers that connections can take at most
   */
  public BufferPool(BufferMemory.Source source, int bufferBytes, int max) {
    this.source = source;
    this.bufferBytes = bufferBytes;
    this.stride = (MessageHeader.BYTES + bufferBytes + ALIGNMENT - 1L) / ALIGNMENT * ALIGNMENT;
    this.chunk = Math.clamp(CHUNK_BYTES / stride, 4, MAX_CHUNK);
    this.max = max;
  }

  /** Returns the number of bytes after the header in each buffer. */
  public int bufferBytes() {
    return bufferBytes;
  }

  /** Returns how many receives are posted at a time, so that they are not too much memory. */
  public int ahead() {
    return Math.max(1, chunk / 2);
  }

  /** Returns the buffer with this index. */
  public Buffer get(int index) {
    return all[index];
  }

  /** Returns the number of buffers, free or not. */
  public int size() {
    return all.length;
  }

  /** Returns the buffers that the program has dropped since the last call. */
  public List<Buffer> dropped() {
    List<Buffer> dropped = new ArrayList<>();
    for (Buffer each : all) {
      if (each.holder().isDropped()) {
        dropped.add(each);
      }
    }
    return dropped;
  }

  /** Returns how many buffers may still be taken; 0 if as many are in use as may be, or more. */
  public int unused() {
    lock.lock();
    try {
      return Math.max(0, max - (all.length - freeCount));
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of buffers that are in use. */
  public int inUse() {
    lock.lock();
    try {
      return all.length - freeCount;
    } finally {
      lock.unlock();
    }
  }

  /** Returns why there are no more buffers, if that is because no memory can be registered. */
  public @Nullable RdmaException noMemory() {
    lock.lock();
    try {
      return isExhausted() ? null : noMemory;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a free buffer; null if as many are in use as may be, or if all are in use and no more
   * memory can be registered.
   */
  public @Nullable Buffer tryTake() {
    lock.lock();
    try {
      return isExhaustedForUsers() ? null : tryTakeOrGrow();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a free buffer to receive into; null if the limit does not allow it, or if all are in use
   * and no more memory can be registered.
   *
   * <p>If threads that send have all buffers, they wait for credits, for which there would be no
   * receives. So some receives have a limit of their own. Without any, a user who sends on what has
   * arrived, to a peer that receives nothing, would fill the memory.
   */
  @Nullable Buffer tryTakeToReceive(ReceiveSupply.Limit limit) {
    lock.lock();
    try {
      boolean allowed =
          switch (limit) {
            case OF_THE_POOL -> !isExhausted();
            case OF_RECEIVES -> receiving < 2 * max;
            case NONE -> true;
          };
      return allowed ? toReceive(tryTakeOrGrow()) : null;
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Buffer toReceive(@Nullable Buffer taken) {
    if (taken != null) {
      taken.toReceive(true);
      receiving++;
    }
    return taken;
  }

  /** Takes a free buffer, or waits for it; null if there is none within the time. */
  public @Nullable Buffer take(long nanos) throws InterruptedException {
    lock.lock();
    try {
      long left = nanos;
      while (isExhaustedForUsers()) {
        if (left <= 0) {
          return null;
        }
        left = freed.awaitNanos(left);
      }
      return takeOrGrow();
    } finally {
      wakeNext();
      lock.unlock();
    }
  }

  /** Wakes one thread if there is a buffer for it; that one wakes the next. */
  private void wakeNext() {
    if (!isExhaustedForUsers()) {
      freed.signal();
    }
  }

  /** Takes a buffer for what the protocol needs in order to go on, even beyond the maximum. */
  public Buffer take() {
    lock.lock();
    try {
      return takeOrGrow();
    } finally {
      lock.unlock();
    }
  }

  /** Some may be free even so: those that the protocol took beyond the maximum, and gave back. */
  private boolean isExhausted() {
    return all.length - freeCount >= max;
  }

  /**
   * Receives that are posted are free again only once something arrives. If they take all buffers
   * on both sides, neither could send the message for which the other waits.
   */
  private boolean isExhaustedForUsers() {
    return isExhausted() && all.length - freeCount - receiving >= Math.max(1, max / RESERVE);
  }

  private @Nullable Buffer tryTakeOrGrow() {
    try {
      return takeOrGrow();
    } catch (RdmaException kept) {
      // Those that are in use become free again.
      return null;
    }
  }

  private Buffer takeOrGrow() {
    if (freeCount == 0) {
      grow();
    }
    return free[--freeCount];
  }

  private void grow() {
    BufferMemory memory = register();
    Buffer[] before = all;
    Buffer[] grown = new Buffer[before.length + chunk];
    System.arraycopy(before, 0, grown, 0, before.length);
    Buffer[] room = new Buffer[grown.length];
    System.arraycopy(free, 0, room, 0, freeCount);
    for (int i = 0; i < chunk; i++) {
      int index = before.length + i;
      grown[index] = new Buffer(this, index, memory, i * stride, bufferBytes);
      room[freeCount + i] = grown[index];
    }
    memory.consistsOf(
        new ReusedPieces(stride, Arrays.copyOfRange(grown, before.length, grown.length)));
    freeCount += chunk;
    free = room;
    all = grown;
  }

  private BufferMemory register() {
    try {
      BufferMemory memory = source.register(chunk * stride);
      noMemory = null;
      return memory;
    } catch (RdmaException failed) {
      noMemory = failed;
      throw failed;
    }
  }

  /** Runs an action once when a buffer can be taken, or when one is given back. */
  public void whenFreed(Runnable action) {
    lock.lock();
    try {
      if (isExhausted() || (noMemory != null && freeCount == 0)) {
        waiting.add(action);
        return;
      }
    } finally {
      lock.unlock();
    }
    action.run();
  }

  @Override
  public void giveBack(Buffer buffer) {
    List<Runnable> actions;
    lock.lock();
    try {
      if (buffer.isToReceive()) {
        buffer.toReceive(false);
        receiving--;
      }
      free[freeCount++] = buffer;
      wakeNext();
      if (waiting.isEmpty()) {
        // Not with an empty list, because going through that allocates an iterator.
        return;
      }
      actions = List.copyOf(waiting);
      waiting.clear();
    } finally {
      lock.unlock();
    }
    actions.forEach(Runnable::run);
  }
}
