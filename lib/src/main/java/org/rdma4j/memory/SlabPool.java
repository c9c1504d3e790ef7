package org.rdma4j.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.lifetime.ReusedMemory;
import org.rdma4j.lifetime.ReusedPieces;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.TimeText;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * A pool of slabs: one memory region, divided into pieces of one size. To acquire and release a
 * slab needs no allocation, no registration, and no lock unless a thread waits. {@link #register}
 * creates a pool.
 *
 * <pre>{@code
 * Slab slab = pool.acquire();
 * receives.add(slab.ticket()).into(slab.slice());
 * ...
 * Slab received = pool.slab(completions.workRequestId(i));
 * read(received.segment());
 * received.release();
 * }</pre>
 *
 * <p>Slabs start at multiples of 64 bytes. If their size is a multiple of the page size, they start
 * at pages. A thread acquires first the slab that it released last.
 *
 * <p>All methods may be called from any thread. Closing the pool closes its region; slabs in use
 * need not be released first.
 *
 * @see Slab
 * @see org.rdma4j.verbs.MemoryRegion
 */
public final class SlabPool implements AutoCloseable {
  /** The maximum number of slabs of a pool. */
  public static final int MAX_SLABS = FreeSlabs.MAX;

  /** No two slabs share a cache line, and every Java type is aligned. */
  private static final long ALIGNMENT = 64;

  private final MemoryRegion region;
  private final Slab[] slabs;
  private final long slabBytes;
  private final long stride;
  private final long alignment;
  private final FreeSlabs free;

  private SlabPool(MemoryRegion region, int slabs, long slabBytes) {
    this.region = region;
    this.slabBytes = slabBytes;
    this.stride = stride(slabBytes);
    this.alignment = Math.min(Long.lowestOneBit(stride), MemoryRegion.pageSize());
    this.free = new FreeSlabs(slabs);
    this.slabs = new Slab[slabs];
    for (int i = 0; i < slabs; i++) {
      this.slabs[i] = new Slab(this, i, region.slice(i * stride, slabBytes));
    }
    VerbsAccess.get()
        .setPieces(
            region,
            new ReusedPieces(
                stride, Arrays.stream(this.slabs).map(Slab::piece).toArray(ReusedMemory[]::new)));
    // However the region is closed: by itself, or because its domain or its device is closed.
    SlabWaiters waiters = free.waiters();
    Lifetime parent = VerbsAccess.get().lifetime(region);
    parent.whileOpen(() -> new Lifetime(toString(), waiters::wakeAll, () -> {}, parent));
  }

  /**
   * Allocates and registers memory once, {@code ibv_reg_mr}, and divides it into slabs of one size.
   *
   * @param domain the protection domain of the memory
   * @param slabs the number of slabs, from 1 to {@link #MAX_SLABS}
   * @param slabBytes the length of each slab in bytes, at least 1
   * @param access the operations that the slabs may be used for
   * @return the pool, with no slab in use
   * @throws IllegalArgumentException if a number is out of range, or if {@link
   *     ProtectionDomain#register(long, AccessFlag...)} refuses the length or the access
   * @throws RdmaException if the memory cannot be allocated or registered
   */
  public static SlabPool register(
      ProtectionDomain domain, int slabs, long slabBytes, AccessFlag... access) {
    Range.check("slabs", slabs, 1, MAX_SLABS);
    if (slabBytes < 1 || slabBytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "slabBytes is " + slabBytes + ", must be from 1 to " + Integer.MAX_VALUE);
    }
    MemoryRegion region = domain.register(slabs * stride(slabBytes), access);
    try {
      return new SlabPool(region, slabs, slabBytes);
    } catch (RuntimeException | Error failed) {
      region.close();
      throw failed;
    }
  }

  private static long stride(long slabBytes) {
    return (slabBytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  static long ticket(int index, int turn) {
    return (long) turn << Integer.SIZE | index;
  }

  /**
   * Takes a free slab if there is one.
   *
   * @return the slab, with the data that the previous use left in it; null if all are in use
   */
  public @Nullable Slab tryAcquire() {
    checkOpen();
    int index = free.tryAcquire();
    return index == FreeSlabs.NONE ? null : slabs[index];
  }

  /**
   * Takes a free slab. Use this if it is a bug that all slabs are in use.
   *
   * @return the slab, with the data that the previous use left in it
   * @throws IllegalStateException if all slabs are in use, or the pool is closed
   */
  public Slab acquire() {
    Slab slab = tryAcquire();
    if (slab == null) {
      throw new IllegalStateException(
          "all " + slabs.length + " slabs are in use: release some, or make the pool larger");
    }
    return slab;
  }

  /**
   * Takes a free slab, and waits for a release if all are in use. Waiting threads get slabs in
   * about the order in which they came, but {@link #acquire()} and {@link #tryAcquire} in other
   * threads do not stand in line. A waiting virtual thread does not occupy its carrier.
   *
   * @param timeout the longest time to wait; zero to not wait at all
   * @return the slab, with the data that the previous use left in it
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the pool is closed, also while this waits
   * @throws InterruptedException if the thread is interrupted, before the call or while this waits
   * @throws TimeoutException if all slabs were in use until the timeout
   */
  public Slab acquire(Duration timeout) throws InterruptedException, TimeoutException {
    Deadline deadline = Deadline.after(timeout);
    checkOpen();
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    SlabWaiters waiters = free.waiters();
    int index = waiters.anyWaiting() ? FreeSlabs.NONE : free.tryAcquire();
    if (index == FreeSlabs.NONE) {
      index = waiters.acquire(free, deadline, this::checkOpen);
    }
    if (index == FreeSlabs.NONE) {
      throw new TimeoutException(
          "all "
              + slabs.length
              + " slabs were in use for "
              + TimeText.of(timeout)
              + ": make the pool larger");
    }
    return slabs[index];
  }

  /**
   * Returns the slab of a ticket, if the use of the slab that the ticket identifies has not ended.
   *
   * @param ticket the result of {@link Slab#ticket} in this use
   * @return the slab
   * @throws IllegalStateException if this use has ended, or the ticket is not one of this pool
   */
  public Slab slab(long ticket) {
    int index = (int) ticket;
    int turn = (int) (ticket >>> Integer.SIZE);
    if (index < 0 || index >= slabs.length || !free.isInUse(index, turn)) {
      throw notInUse(ticket);
    }
    return slabs[index];
  }

  /**
   * Returns the slab of a ticket to the pool, if the use of the slab that the ticket identifies has
   * not ended, as {@link Slab#release} does.
   *
   * @param ticket the result of {@link Slab#ticket} in this use
   * @throws IllegalStateException if this use has ended, or the ticket is not one of this pool
   */
  public void release(long ticket) {
    int index = (int) ticket;
    int turn = (int) (ticket >>> Integer.SIZE);
    if (index < 0 || index >= slabs.length || !slabs[index].release(turn)) {
      throw notInUse(ticket);
    }
  }

  /**
   * Returns to the pool the slab that contains a segment of {@link #allocator}.
   *
   * @param allocated the segment, or any part of it
   * @throws IllegalArgumentException if it does not lie within a slab of this pool
   * @throws IllegalStateException if the slab is not in use
   */
  public void release(MemorySegment allocated) {
    slabOf(allocated).release();
  }

  /**
   * Returns the slab that contains the given memory, whether it is in use or not.
   *
   * @param memory memory within one slab
   * @return the slab
   * @throws IllegalArgumentException if it does not lie within a slab of this pool
   */
  public Slab slabOf(MemorySegment memory) {
    long offset = memory.isNative() ? memory.address() - region.segment().address() : -1;
    long index = offset / stride;
    if (offset < 0 || index >= slabs.length || memory.byteSize() > slabBytes - offset % stride) {
      throw new IllegalArgumentException(memory + " does not lie within a slab of " + this);
    }
    return slabs[(int) index];
  }

  /**
   * Returns a view of this pool as an allocator: each allocation takes a whole slab, which {@link
   * #release(MemorySegment)} returns. The memory is not zeroed. An allocation throws
   * IllegalArgumentException if the segment would be longer than a slab, or have a larger alignment
   * than slabs have. It throws IllegalStateException if all slabs are in use or the pool is closed.
   *
   * @return the allocator, which any thread may use
   */
  public SegmentAllocator allocator() {
    return this::allocate;
  }

  private MemorySegment allocate(long bytes, long byteAlignment) {
    if (bytes < 0 || bytes > slabBytes) {
      throw new IllegalArgumentException(
          "byteSize is " + bytes + ", must be from 0 to " + slabBytes + ", the length of a slab");
    }
    if (byteAlignment < 1 || byteAlignment > alignment || Long.bitCount(byteAlignment) != 1) {
      throw new IllegalArgumentException(
          "byteAlignment is "
              + byteAlignment
              + ", must be a power of 2 from 1 to "
              + alignment
              + ", the alignment of slabs");
    }
    return acquire().segment().asSlice(0, bytes, byteAlignment);
  }

  /**
   * Returns the number of slabs.
   *
   * @return the number of slabs
   */
  public int size() {
    return slabs.length;
  }

  /**
   * Returns the length of a slab.
   *
   * @return the length in bytes that {@link #register} was called with
   */
  public long slabBytes() {
    return slabBytes;
  }

  /**
   * Returns the number of slabs that are in use, or that operations of connections still use.
   *
   * @return the number at some moment during the call
   */
  public int inUse() {
    return slabs.length - free.free();
  }

  /**
   * Returns the memory region that contains all slabs.
   *
   * @return the region
   */
  public MemoryRegion region() {
    return region;
  }

  /**
   * Closes the memory region, and with it the pool. Waits for a slab end with
   * IllegalStateException. Does nothing if it is already closed.
   *
   * @throws RdmaException if the deregistration fails
   */
  @Override
  public void close() {
    region.close();
  }

  FreeSlabs free() {
    return free;
  }

  void checkOpen() {
    region.checkOpen();
  }

  private IllegalStateException notInUse(long ticket) {
    return new IllegalStateException(
        "ticket %#x of %s is not in use: its slab was released, or it is not a ticket of this pool"
            .formatted(ticket, this));
  }

  @Override
  public String toString() {
    return "pool of " + slabs.length + " slabs in " + region;
  }
}
