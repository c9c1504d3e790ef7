package org.rdma4j.connection.buffers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.lifetime.ReusedPieces;
import org.rdma4j.platform.LockOrder;

/**
 * The buffers of one length that all connections of a device share, to send from and to receive
 * into. It registers more memory when all are in use, up to a maximum, and gives memory back that
 * is not needed any more.
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
  private final ReentrantLock lock = LockOrder.BUFFER_POOL.newLock();

  /** Signaled when there may be a buffer for a thread that waits. */
  private final Condition freed = lock.newCondition();

  private final List<Runnable> waiting = new ArrayList<>();

  /** All buffers by their index; null where memory was given back. */
  private volatile @Nullable Buffer[] all = {};

  private int size;
  private Buffer[] free = {};
  private int freeCount;

  /** The number of buffers that were in use at the same time since the last {@link #shrink}. */
  private int mostInUse;

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

  /** Returns the buffer with this index, which must be in use. */
  @SuppressWarnings("NullAway") // Memory in use is not given back.
  public Buffer get(int index) {
    return all[index];
  }

  /** Returns the number of buffers, free or not. */
  public int size() {
    lock.lock();
    try {
      return size;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the buffers that the program has dropped since the last call. */
  public List<Buffer> dropped() {
    List<Buffer> dropped = new ArrayList<>();
    for (Buffer each : all) {
      if (each != null && each.holder().isDropped()) {
        dropped.add(each);
      }
    }
    return dropped;
  }

  /** Returns how many buffers may still be taken; 0 if as many are in use as may be, or more. */
  public int unused() {
    lock.lock();
    try {
      return Math.max(0, max - (size - freeCount));
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of buffers that are in use. */
  public int inUse() {
    lock.lock();
    try {
      return size - freeCount;
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
      return isExhaustedForUsers() ? null : takeForUser();
    } catch (RdmaException kept) {
      return null;
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

  /**
   * Takes a free buffer for a copy of what has arrived in a buffer that several messages share,
   * within the limit of buffers that were received into; null if there is none.
   */
  public @Nullable Buffer tryTakeForCopy() {
    return tryTakeToReceive(ReceiveSupply.Limit.OF_RECEIVES);
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
      return takeForUser();
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

  /**
   * Takes a buffer for a user who does not wait, even beyond the maximum.
   *
   * @throws RdmaException if all are in use and no more memory can be registered
   */
  public Buffer take() {
    lock.lock();
    try {
      return takeForUser();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a buffer for what the protocol needs in order to go on, even beyond the maximum.
   *
   * @throws RdmaException if all are in use and no more memory can be registered
   */
  public Buffer takeForProtocol() {
    lock.lock();
    try {
      return takeOrGrow();
    } finally {
      lock.unlock();
    }
  }

  /** Does the same; null if all are in use and no more memory can be registered. */
  public @Nullable Buffer tryTakeForProtocol() {
    lock.lock();
    try {
      return tryTakeOrGrow();
    } finally {
      lock.unlock();
    }
  }

  /** Without more memory, the last buffers are for the protocol: its messages free others. */
  private Buffer takeForUser() {
    if (noMemory != null && freeCount <= RESERVE) {
      grow();
    }
    return takeOrGrow();
  }

  /** Some may be free even so: buffers that the protocol took beyond the maximum, and gave back. */
  private boolean isExhausted() {
    return size - freeCount >= max;
  }

  /**
   * Receives that are posted are free again only once something arrives. If they take all buffers
   * on both sides, neither could send the message for which the other waits.
   */
  private boolean isExhaustedForUsers() {
    return isExhausted() && size - freeCount - receiving >= Math.max(1, max / RESERVE);
  }

  private @Nullable Buffer tryTakeOrGrow() {
    try {
      return takeOrGrow();
    } catch (RdmaException kept) {
      // Buffers in use become free again.
      return null;
    }
  }

  private Buffer takeOrGrow() {
    if (freeCount == 0) {
      grow();
    }
    Buffer taken = free[--freeCount];
    mostInUse = Math.max(mostInUse, size - freeCount);
    return taken;
  }

  private void grow() {
    BufferMemory memory = register();
    int first = firstGap();
    @Nullable Buffer[] grown = Arrays.copyOf(all, Math.max(all.length, first + chunk));
    Buffer[] room = Arrays.copyOf(free, size + chunk);
    Buffer[] made = new Buffer[chunk];
    for (int i = 0; i < chunk; i++) {
      made[i] = new Buffer(this, first + i, memory, i * stride, bufferBytes);
      grown[first + i] = made[i];
      room[freeCount + i] = made[i];
    }
    memory.consistsOf(new ReusedPieces(stride, made));
    freeCount += chunk;
    size += chunk;
    free = room;
    all = grown;
  }

  /** Returns the index of the first buffer of a chunk that is not registered. */
  private int firstGap() {
    @Nullable Buffer[] known = all;
    int first = 0;
    while (first < known.length && known[first] != null) {
      first += chunk;
    }
    return first;
  }

  /**
   * Gives back half of the memory that was not needed since the last call. Called at intervals, so
   * that memory which was needed once is given back within some of them.
   */
  public void shrink() {
    List<BufferMemory> surplus = new ArrayList<>();
    lock.lock();
    try {
      int chunks = (size - mostInUse) / chunk;
      mostInUse = size - freeCount;
      if (chunks > 0) {
        removeFree((chunks + 1) / 2, surplus);
      }
    } finally {
      lock.unlock();
    }
    surplus.forEach(BufferMemory::close);
  }

  /** Removes chunks of which no buffer is in use, at most so many. The first chunk stays. */
  private void removeFree(int most, List<BufferMemory> removed) {
    @Nullable Buffer[] kept = all.clone();
    int[] freeOf = new int[kept.length / chunk];
    for (int i = 0; i < freeCount; i++) {
      freeOf[free[i].index() / chunk]++;
    }
    for (int i = freeOf.length - 1; i > 0 && removed.size() < most; i--) {
      Buffer first = kept[i * chunk];
      if (first != null && freeOf[i] == chunk) {
        removed.add(first.memory());
        Arrays.fill(kept, i * chunk, (i + 1) * chunk, null);
      }
    }
    // Those of the first chunks are taken first, so that later ones become free as a whole.
    free =
        Arrays.stream(free, 0, freeCount)
            .filter(each -> kept[each.index()] != null)
            .sorted(Comparator.comparingInt(Buffer::index).reversed())
            .toArray(Buffer[]::new);
    freeCount = free.length;
    size -= removed.size() * chunk;
    free = Arrays.copyOf(free, size);
    all = kept;
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
