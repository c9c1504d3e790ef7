package org.rdma4j.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * Slabs of one size out of one memory region, to be acquired and released without an allocation, a
 * registration or a lock. {@link #register} makes one.
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
 * <p>Slabs begin at multiples of 64 bytes, those of a multiple of the page size at pages. The slab
 * that a thread released last it acquires first.
 *
 * <p>All methods may be called from any thread. Closing the pool closes its region; slabs in use
 * need not be released before.
 */
public final class SlabPool implements AutoCloseable {
  /** The most slabs of a pool. */
  public static final int MAX_SLABS = FreeSlabs.MAX;

  /** No two slabs in one cache line, and as much as any Java type wants. */
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
    // However the region is closed: by itself, or because its domain or its device is closed.
    SlabWaiters waiters = free.waiters();
    Lifetime parent = VerbsAccess.get().lifetime(region);
    parent.whileOpen(() -> new Lifetime(toString(), waiters::wakeAll, () -> {}, parent));
  }

  /**
   * Allocates and registers memory once, {@code ibv_reg_mr}, and divides it into slabs of one size.
   *
   * @param domain the protection domain of the memory
   * @param slabs how many slabs, from 1 to {@link #MAX_SLABS}
   * @param slabBytes the length of each slab in bytes, at least 1
   * @param access what the slabs may be used for
   * @return the pool, with no slab in use
   * @throws IllegalArgumentException if a number is out of range, or if {@link
   *     ProtectionDomain#register(long, AccessFlag...)} refuses the length or the access
   * @throws IllegalStateException if the domain is closed
   * @throws RdmaException if the memory cannot be allocated or registered
   */
  public static SlabPool register(
      ProtectionDomain domain, int slabs, long slabBytes, AccessFlag... access) {
    Range.check("slabs", slabs, 1, MAX_SLABS);
    if (slabBytes < 1 || slabBytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "slabBytes is " + slabBytes + ", must be from 1 to " + Integer.MAX_VALUE);
    }
    return new SlabPool(domain.register(slabs * stride(slabBytes), access), slabs, slabBytes);
  }

  private static long stride(long slabBytes) {
    return (slabBytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  static long ticket(int index, int turn) {
    return (long) turn << Integer.SIZE | index;
  }

  /**
   * Takes a slab that is free.
   *
   * @return the slab, with what the use before left in it; null where all are in use
   * @throws IllegalStateException where the pool is closed
   */
  public @Nullable Slab tryAcquire() {
    checkOpen();
    int index = free.tryAcquire();
    return index == FreeSlabs.NONE ? null : slabs[index];
  }

  /**
   * Takes a slab that is free, where it is a defect that there is none.
   *
   * @return the slab, with what the use before left in it
   * @throws IllegalStateException where all are in use, or the pool is closed
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
   * Takes a slab that is free, and waits for a release if all are in use. Waiting threads get slabs
   * in about the order in which they came, but {@link #acquire()} and {@link #tryAcquire} in other
   * threads do not stand in line. A waiting virtual thread does not occupy its carrier.
   *
   * @param timeout the longest time to wait; zero to not wait at all
   * @return the slab, with what the use before left in it
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
          "all " + slabs.length + " slabs were in use for " + timeout + ": make the pool larger");
    }
    return slabs[index];
  }

  /**
   * The slab of a use that goes on, which this tells reliably from any earlier use.
   *
   * @param ticket what {@link Slab#ticket} said in this use
   * @return the slab
   * @throws IllegalStateException where that use has ended, or never was
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
   * Gives the slab of a use back, which this tells reliably from any other use. It must not be
   * named by a request that is outstanding: the device would write into the next use.
   *
   * @param ticket what {@link Slab#ticket} said in this use
   * @throws IllegalStateException where that use has ended, or never was
   */
  public void release(long ticket) {
    int index = (int) ticket;
    int turn = (int) (ticket >>> Integer.SIZE);
    if (index < 0 || index >= slabs.length || !free.release(index, turn)) {
      throw notInUse(ticket);
    }
  }

  /**
   * Gives back the slab that a segment of {@link #allocator} is of.
   *
   * @param allocated the segment, or any part of it
   * @throws IllegalArgumentException where it is not of this pool
   * @throws IllegalStateException where the slab is not in use
   */
  public void release(MemorySegment allocated) {
    slabOf(allocated).release();
  }

  /**
   * The slab that memory lies in, in use or not.
   *
   * @param memory the memory, within one slab
   * @return the slab
   * @throws IllegalArgumentException where it does not lie within a slab of this pool
   * @throws IllegalStateException where the pool is closed
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
   * A view of this pool as an allocator: each allocation takes a whole slab, which {@link
   * #release(MemorySegment)} gives back. The memory is not zeroed. It throws
   * IllegalArgumentException where a segment is to be longer than a slab or aligned to more than
   * slabs are, IllegalStateException where all slabs are in use or the pool is closed.
   *
   * @return the allocator, for any thread
   */
  public SegmentAllocator allocator() {
    return this::allocate;
  }

  private MemorySegment allocate(long bytes, long byteAlignment) {
    if (bytes < 0 || bytes > slabBytes) {
      throw new IllegalArgumentException(
          "byteSize is " + bytes + ", must be from 0 to " + slabBytes + ", that of a slab");
    }
    if (byteAlignment < 1 || byteAlignment > alignment || Long.bitCount(byteAlignment) != 1) {
      throw new IllegalArgumentException(
          "byteAlignment is "
              + byteAlignment
              + ", must be a power of 2 from 1 to "
              + alignment
              + ", that of slabs");
    }
    return acquire().segment().asSlice(0, bytes, byteAlignment);
  }

  /**
   * How many slabs there are.
   *
   * @return the number
   */
  public int size() {
    return slabs.length;
  }

  /**
   * The length of a slab.
   *
   * @return its length in bytes, as it was asked for
   */
  public long slabBytes() {
    return slabBytes;
  }

  /**
   * How many slabs are in use.
   *
   * @return the number at some moment during the call
   */
  public int inUse() {
    return slabs.length - free.free();
  }

  /**
   * The region that all slabs are of.
   *
   * @return the region
   */
  public MemoryRegion region() {
    return region;
  }

  /**
   * Closes the region, and with it the pool. Does nothing where it is closed.
   *
   * @throws RdmaException where the deregistration fails
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
        "ticket %#x of %s is not in use: its slab was released, or it never was one"
            .formatted(ticket, this));
  }

  @Override
  public String toString() {
    return "pool of " + slabs.length + " slabs in " + region;
  }
}
