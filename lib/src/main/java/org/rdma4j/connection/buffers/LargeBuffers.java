package org.rdma4j.connection.buffers;

import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.wire.MessageHeader;
import org.rdma4j.lifetime.ReusedPieces;
import org.rdma4j.platform.LockOrder;

/**
 * Buffers for messages that are too long for a {@link BufferPool}, each with memory of its own.
 * There are eight lengths from one power of two to the next, so a buffer is at most an eighth
 * longer than its message needs. Buffers that were in use last are kept, because registering memory
 * takes longer than transferring it; a kept buffer also serves for shorter messages, down to half
 * of its length.
 *
 * <p>What peers send has a budget of its own, so that it does not wait for what is sent to them: as
 * many bytes as threads can take that wait. A connection gets no more than half of the remaining
 * ones, so that one cannot take all of them; {@link Arrivals} that wait get theirs in their order.
 *
 * <p>All methods may be called from any thread.
 */
public final class LargeBuffers implements Buffer.Home {
  /** The memory that is kept at most while it is not in use. */
  private static final long MAX_KEPT = 64L << 20;

  /** The budget of what arrives is enough for so many of the longest messages. */
  private static final int LEAST_MESSAGES = 4;

  /** The binary logarithm of the number of lengths from one power of two to the next. */
  private static final int STEPS_LOG = 3;

  private static final int STEPS = 1 << STEPS_LOG;

  private final BufferMemory.Source source;
  private final ReentrantLock lock = LockOrder.LARGE_BUFFERS.newLock();

  /** The buffers of each length that are kept, in the order in which they were given back. */
  private final List<Deque<Buffer>> keptByClass = new ArrayList<>();

  /** How many were given back so far. */
  private long givenBack;

  /** All whose memory is registered, each with the number of bytes of which it is. */
  private final Map<Buffer, Long> all = new HashMap<>();

  /** Signaled when memory may have become free for the threads that wait. */
  private final Condition freed = lock.newCondition();

  /** The arrivals that wait for a buffer, in their order. */
  private final List<Arrivals> waiting = new ArrayList<>();

  private final long max;
  private long inUse;

  /** The bytes that are in use, or granted, for what peers send. */
  private long arriving;

  private long kept;

  /** The least that was kept at a time since the last {@link #shrink}. */
  private long leastKept;

  private long registered;

  /**
   * Creates a pool without buffers.
   *
   * @param max the bytes of what is sent beyond which a thread that can wait waits, and those of
   *     what arrives
   */
  public LargeBuffers(BufferMemory.Source source, long max) {
    this.source = source;
    this.max = max;
    for (int i = 0; i < Long.SIZE * STEPS; i++) {
      keptByClass.add(new ArrayDeque<>());
    }
  }

  /** Returns the number of the shortest length that is enough. */
  private static int sizeClass(long bytes) {
    long last = Math.max(bytes, 2 * STEPS) - 1;
    int octave = Long.SIZE - 1 - Long.numberOfLeadingZeros(last);
    return octave * STEPS + (int) (last >> (octave - STEPS_LOG)) - STEPS;
  }

  /** Returns the length of a number. */
  private static long capacity(int sizeClass) {
    return (sizeClass % STEPS + STEPS + 1L) << (sizeClass / STEPS - STEPS_LOG);
  }

  /** Returns the number of bytes that are registered. */
  public long registeredBytes() {
    lock.lock();
    try {
      return registered;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of bytes that are in use. */
  public long inUse() {
    lock.lock();
    try {
      return inUse;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a buffer for a message of this length, at least 2, that arrives; null if none is kept, or
   * if it has to wait for others.
   */
  public @Nullable Buffer tryTake(Arrivals arrivals, long bytes) {
    int sizeClass = sizeClass(bytes);
    lock.lock();
    try {
      Buffer known =
          isAllowed(arrivals, capacity(sizeClass)) ? takeKept(sizeClass, Long.MAX_VALUE) : null;
      return known == null ? null : count(arrivals, known);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Grants a buffer for a message of this length, at least 2, that arrives: immediately or, after
   * others, as soon as the budgets allow it. {@link #takeGranted} takes it.
   *
   * @param whenGranted is called once; it must not wait, nor take a lock of a connection
   */
  public void grant(Arrivals arrivals, long bytes, Runnable whenGranted) {
    lock.lock();
    try {
      arrivals.wanted = sizeClass(bytes);
      arrivals.whenGranted = whenGranted;
      waiting.add(arrivals);
    } finally {
      lock.unlock();
    }
    grantNext();
  }

  /**
   * Takes the buffer that was granted. Registers memory if none is kept, which takes long.
   *
   * @param first the number of bytes that are registered at least; {@link #register} registers more
   * @throws RdmaException if no memory can be registered
   */
  public Buffer takeGranted(Arrivals arrivals, long bytes, long first) {
    boolean taken = false;
    try {
      Buffer buffer = takeRegistered(bytes, first);
      lock.lock();
      try {
        arriving -= arrivals.granted;
        arrivals.granted = 0;
        taken = true;
        return count(arrivals, buffer);
      } finally {
        lock.unlock();
      }
    } finally {
      if (!taken) {
        withdraw(arrivals);
      }
    }
  }

  /** Takes back what is granted, and lets the arrivals wait no more. */
  public void withdraw(Arrivals arrivals) {
    lock.lock();
    try {
      arriving -= arrivals.granted;
      arrivals.granted = 0;
      waiting.remove(arrivals);
    } finally {
      lock.unlock();
    }
    grantNext();
  }

  /** Counts a message that a handler sends, or that is sent on, as an answer. */
  public void countAnswer(Arrivals arrivals, Buffer answer) {
    lock.lock();
    try {
      Arrivals known = answer.arrivals();
      if (known == null) {
        count(arrivals, answer);
        known = arrivals;
        freed.signalAll();
      }
      known.bytes -= answer.capacity();
      known.answers += answer.capacity();
      answer.sentOn(true);
    } finally {
      lock.unlock();
    }
    grantNext();
  }

  /** Returns whether answers have a quarter of the rest, so that the peer must not cause more. */
  public boolean isFull(Arrivals arrivals) {
    lock.lock();
    try {
      return arrivals.answers >= left(arrivals) / 4;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether the answers of one connection have more bytes than those of all may have. */
  public boolean isExceeded(Arrivals arrivals) {
    lock.lock();
    try {
      return arrivals.answers > Math.max(max, arrivals.max);
    } finally {
      lock.unlock();
    }
  }

  /** Requires the lock. */
  private Buffer count(Arrivals arrivals, Buffer buffer) {
    buffer.arrivals(arrivals);
    arrivals.bytes += buffer.capacity();
    arriving += buffer.capacity();
    return buffer;
  }

  /** Requires the lock. */
  private boolean isAllowed(Arrivals arrivals, long capacity) {
    long more = arrivals.bytes + capacity;
    boolean isOwn = arrivals.bytes == 0 || more <= arrivals.max;
    return arriving == 0 || (isOwn && arrivals.answers + more <= left(arrivals) / 2);
  }

  /** Returns how many bytes are left for what arrives. Requires the lock. */
  private long left(Arrivals arrivals) {
    return Math.max(max, LEAST_MESSAGES * arrivals.max) - arriving;
  }

  /** Grants buffers to waiting messages, as far as the budgets allow it. */
  private void grantNext() {
    Arrivals next = pollAllowed();
    while (next != null) {
      Objects.requireNonNull(next.whenGranted).run();
      next = pollAllowed();
    }
  }

  private @Nullable Arrivals pollAllowed() {
    lock.lock();
    try {
      for (int i = 0; i < waiting.size(); i++) {
        Arrivals each = waiting.get(i);
        long capacity = capacity(each.wanted);
        if (isAllowed(each, capacity)) {
          waiting.remove(i);
          each.granted = capacity;
          arriving += capacity;
          return each;
        }
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes a buffer that is kept, of this length or less than twice as long. Requires the lock.
   *
   * @param most the greatest length that may be taken
   */
  private @Nullable Buffer takeKept(int shortest, long most) {
    int end = Math.min(shortest + STEPS, keptByClass.size());
    for (int sizeClass = shortest; sizeClass < end && capacity(sizeClass) <= most; sizeClass++) {
      Buffer known = keptByClass.get(sizeClass).pollLast();
      if (known != null) {
        kept -= known.capacity();
        leastKept = Math.min(leastKept, kept);
        inUse += known.capacity();
        return known;
      }
    }
    return null;
  }

  /**
   * Takes a buffer for a message of this length, which is at least 2. Registers memory if none is
   * kept, which takes long.
   *
   * @throws RdmaException if no memory can be registered
   */
  public Buffer take(long bytes) {
    return takeRegistered(bytes, Long.MAX_VALUE);
  }

  /** Takes a buffer of which the first bytes are registered, or all. */
  private Buffer takeRegistered(long bytes, long first) {
    int sizeClass = sizeClass(bytes);
    lock.lock();
    try {
      Buffer known = takeKept(sizeClass, Long.MAX_VALUE);
      if (known != null) {
        return known;
      }
      inUse += capacity(sizeClass);
    } finally {
      lock.unlock();
    }
    return register(sizeClass, first < bytes ? first : capacity(sizeClass));
  }

  /**
   * Takes a buffer for a message of this length, which is from 2 to the maximum, or waits while it
   * and the buffers in use are more than the maximum.
   *
   * @return the buffer; null if the time is over
   * @throws RdmaException if no memory can be registered
   */
  public @Nullable Buffer take(long bytes, long nanos) throws InterruptedException {
    int sizeClass = sizeClass(bytes);
    long capacity = capacity(sizeClass);
    lock.lock();
    try {
      long left = nanos;
      while (isTaken(capacity)) {
        if (left <= 0) {
          return null;
        }
        left = freed.awaitNanos(left);
      }
      Buffer known = takeKept(sizeClass, Math.max(capacity, max - (inUse - arriving)));
      if (known != null) {
        return known;
      }
      inUse += capacity;
    } finally {
      lock.unlock();
    }
    return register(sizeClass, capacity);
  }

  /**
   * Returns whether what is sent has to wait. What is granted and not in use counts as arriving.
   */
  private boolean isTaken(long capacity) {
    long sending = inUse - arriving;
    return sending > 0 && sending + capacity > max;
  }

  /** Registers memory for a buffer that is counted as in use: all of it, or the first bytes. */
  private Buffer register(int sizeClass, long first) {
    long capacity = capacity(sizeClass);
    long whole = MessageHeader.BYTES + capacity;
    BufferMemory memory;
    try {
      memory =
          first == capacity
              ? source.register(whole)
              : source.reserve(whole, MessageHeader.BYTES + first);
    } catch (RuntimeException | Error failed) {
      noLongerInUse(capacity);
      throw failed;
    }
    Buffer buffer = new Buffer(this, sizeClass, memory, 0, capacity);
    memory.consistsOf(new ReusedPieces(Long.MAX_VALUE, buffer));
    add(buffer);
    return buffer;
  }

  private void add(Buffer buffer) {
    lock.lock();
    try {
      all.put(buffer, buffer.registeredBytes());
      registered += buffer.registeredBytes();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Registers more of a buffer that is in use, which takes long.
   *
   * @param first the number of bytes that are registered at least
   * @throws RdmaException if they cannot be registered
   */
  public void register(Buffer buffer, long first) {
    long bytes = first < buffer.length() ? first : buffer.capacity();
    buffer.memory().registerUpTo(MessageHeader.BYTES + bytes);
    lock.lock();
    try {
      Long before = all.replace(buffer, bytes);
      // It is no longer there if it was given back meanwhile.
      registered += before == null ? 0 : bytes - before;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the buffers that the program has dropped since the last call. */
  public List<Buffer> dropped() {
    lock.lock();
    try {
      return all.keySet().stream().filter(each -> each.holder().isDropped()).toList();
    } finally {
      lock.unlock();
    }
  }

  private void noLongerInUse(long capacity) {
    lock.lock();
    try {
      inUse -= capacity;
      freed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void giveBack(Buffer buffer) {
    boolean arrived = leave(buffer);
    noLongerInUse(buffer.capacity());
    deregisterOrKeep(buffer);
    if (arrived) {
      grantNext();
    }
  }

  private boolean leave(Buffer buffer) {
    lock.lock();
    try {
      Arrivals left = buffer.arrivals();
      if (left == null) {
        return false;
      }
      if (buffer.isSentOn()) {
        buffer.sentOn(false);
        left.answers -= buffer.capacity();
      } else {
        left.bytes -= buffer.capacity();
      }
      arriving -= buffer.capacity();
      buffer.arrivals(null);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void deregisterOrKeep(Buffer buffer) {
    boolean isKept = buffer.capacity() <= MAX_KEPT && isWhole(buffer);
    Buffer surplus = isKept ? keep(buffer) : buffer;
    while (surplus != null) {
      giveUp(surplus);
      lock.lock();
      try {
        surplus = pollSurplus();
      } finally {
        lock.unlock();
      }
    }
  }

  private void giveUp(Buffer surplus) {
    deregister(surplus);
    lock.lock();
    try {
      Long bytes = all.remove(surplus);
      registered -= bytes == null ? 0 : bytes;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives back half of the memory that was not needed since the last call. Called at intervals, so
   * that memory which was needed once is given back within some of them.
   */
  public void shrink() {
    List<Buffer> surplus = new ArrayList<>();
    lock.lock();
    try {
      long rest = kept - (leastKept + 1) / 2;
      while (kept > rest) {
        surplus.add(pollOldest());
      }
      leastKept = kept;
    } finally {
      lock.unlock();
    }
    surplus.forEach(this::giveUp);
  }

  private static boolean isWhole(Buffer buffer) {
    return buffer.registeredBytes() == buffer.capacity();
  }

  /** Gives all memory back, after the end of all that uses it. */
  public void close() {
    List<Buffer> left;
    lock.lock();
    try {
      left = List.copyOf(all.keySet());
    } finally {
      lock.unlock();
    }
    left.forEach(LargeBuffers::deregister);
  }

  /** Logs a failure, because who gives a buffer back can do nothing about it. */
  private static void deregister(Buffer surplus) {
    try {
      surplus.memory().close();
    } catch (RdmaException failed) {
      System.getLogger("org.rdma4j").log(Level.WARNING, "memory was not deregistered", failed);
    }
  }

  /** Keeps a buffer; returns a buffer that is no longer kept then, if there is one. */
  private @Nullable Buffer keep(Buffer buffer) {
    lock.lock();
    try {
      kept += buffer.capacity();
      buffer.keptSince(givenBack++);
      keptByClass.get(buffer.index()).addLast(buffer);
      return pollSurplus();
    } finally {
      lock.unlock();
    }
  }

  /** Takes the buffer that has been unused for longest, if too many are kept. */
  private @Nullable Buffer pollSurplus() {
    return kept <= MAX_KEPT ? null : pollOldest();
  }

  /** Takes the buffer that has been unused for longest. Requires the lock. */
  private Buffer pollOldest() {
    Buffer oldest = null;
    for (Deque<Buffer> each : keptByClass) {
      Buffer first = each.peekFirst();
      if (first != null && (oldest == null || first.keptSince() < oldest.keptSince())) {
        oldest = first;
      }
    }
    if (oldest == null) {
      throw new AssertionError("no buffer is kept");
    }
    keptByClass.get(oldest.index()).removeFirst();
    kept -= oldest.capacity();
    leastKept = Math.min(leastKept, kept);
    return oldest;
  }
}
