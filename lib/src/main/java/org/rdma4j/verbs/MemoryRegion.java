package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Set;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_mr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.memory.PageMemory;

/**
 * A memory region, {@code struct ibv_mr}: page-aligned memory outside the Java heap that the device
 * reads and writes.
 *
 * <p>Closing it while requests that use it are outstanding is safe: they end in a protection error.
 * A view of its memory that is kept beyond that reads zeros.
 *
 * <p>All methods may be called from any thread. The memory itself is shared with the device and
 * with every thread; a received message is visible to the thread that polled its completion.
 */
public final class MemoryRegion implements AutoCloseable {
  private final ProtectionDomain domain;
  private final MemorySegment segment;
  private final Set<AccessFlag> access;
  private final MemorySegment region;
  private final long address;
  private final long byteSize;
  private final Extent extent;
  private final int localKey;
  private final int remoteKey;
  private final Lifetime lifetime;

  MemoryRegion(ProtectionDomain domain, PageMemory memory, Set<AccessFlag> access) {
    this.domain = domain;
    this.segment = memory.segment();
    this.access = Collections.unmodifiableSet(access);
    this.byteSize = segment.byteSize();
    this.address = segment.address();
    Extent open = new Extent(byteSize);
    this.extent = open;
    MemorySegment created =
        Native.created(
            "ibv_reg_mr(" + byteSize + " bytes, " + access + ")",
            Verbs.ibv_reg_mr(domain.pointer(), segment, byteSize, NativeConstant.mask(access)));
    this.region = created;
    this.localKey = ibv_mr.lkey(created);
    this.remoteKey = ibv_mr.rkey(created);
    this.lifetime =
        new Lifetime(
            "memory region of " + byteSize + " bytes of " + domain.device().info().name(),
            () -> open.length = Extent.CLOSED,
            () -> {
              Native.check("ibv_dereg_mr", rdma_h.ibv_dereg_mr(created));
              memory.close();
            },
            domain.lifetime());
    Leaks.watch(this, lifetime);
  }

  /**
   * The length.
   *
   * @return the length in bytes, as it was asked for
   */
  public long byteSize() {
    return byteSize;
  }

  /**
   * What it may be used for.
   *
   * @return the flags it was registered with
   */
  public Set<AccessFlag> access() {
    return access;
  }

  /**
   * The local key, {@code lkey}, by which requests of this process name the region.
   *
   * @return the key
   * @throws IllegalStateException where the region is closed
   */
  public int localKey() {
    checkOpen();
    return localKey;
  }

  /**
   * The remote key, {@code rkey}, by which a peer names the region.
   *
   * @return the key
   * @throws IllegalStateException where the region is closed
   */
  public int remoteKey() {
    checkOpen();
    return remoteKey;
  }

  /**
   * The address by which a peer names the first byte.
   *
   * @return the address, to be read as unsigned
   * @throws IllegalStateException where the region is closed
   */
  public long remoteAddress() {
    checkOpen();
    return address;
  }

  /**
   * The memory, for reading and writing from any thread.
   *
   * @return all of it
   * @throws IllegalStateException where the region is closed
   */
  public MemorySegment segment() {
    checkOpen();
    return segment;
  }

  /**
   * The memory as a ByteBuffer, in big-endian order as every new one.
   *
   * @return all of it
   * @throws IllegalStateException where the region is closed
   * @throws UnsupportedOperationException where the region is longer than a ByteBuffer can be, 2
   *     GiB - 1: take that of a slice
   */
  public ByteBuffer byteBuffer() {
    return slice(0, byteSize).byteBuffer();
  }

  /**
   * A part of the region.
   *
   * @param offset its first byte
   * @param length its length in bytes, may be 0
   * @return the part
   * @throws IndexOutOfBoundsException where it does not lie within the region
   * @throws IllegalStateException where the region is closed
   */
  public MemorySlice slice(long offset, long length) {
    addressOf(offset, length);
    return new MemorySlice(this, offset, length);
  }

  /**
   * The protection domain that this belongs to.
   *
   * @return the domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * The way out to the bindings: {@code struct ibv_mr *}. It is valid until this is closed; with
   * it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where the region is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> region);
  }

  /**
   * Deregisters the memory, {@code ibv_dereg_mr}, then frees it. Does nothing where it is closed.
   *
   * @throws RdmaException where the deregistration fails, EBUSY while a memory window is bound to
   *     it
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** The address of a part that lies within the region, for a request of this process. */
  long addressOf(long offset, long length) {
    if ((offset | length) < 0 || length > extent.length - offset) {
      checkOpen();
      throw outOfBounds(offset, length);
    }
    return address + offset;
  }

  /** The local key without a check, after {@link #addressOf}. */
  int key() {
    return localKey;
  }

  /**
   * How far requests may reach: one look tells bounds and closing. A plain field, since it protects
   * the message and not the process: the device refuses the key of a closed region.
   */
  private static final class Extent {
    static final long CLOSED = -1;
    long length;

    Extent(long length) {
      this.length = length;
    }
  }

  private void checkOpen() {
    if (!lifetime.isOpen()) {
      throw lifetime.closed();
    }
  }

  private IndexOutOfBoundsException outOfBounds(long offset, long length) {
    return new IndexOutOfBoundsException(
        "offset "
            + offset
            + " and length "
            + length
            + " leave the region's "
            + byteSize
            + " bytes");
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
