package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_mr;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.Referent;
import org.rdma4j.lifetime.BoundWindows;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.lifetime.ReusedPieces;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.PageMemory;
import org.rdma4j.platform.SameDevice;

/**
 * A memory region, {@code struct ibv_mr}: registered memory outside the Java heap that the device
 * reads and writes. {@link ProtectionDomain#register(long, AccessFlag...)} allocates and registers
 * memory, {@link ProtectionDomain#register(MemoryRegionConfig)} also registers memory of the
 * caller.
 *
 * <p>It is safe to close a region while requests that use it are outstanding: they complete with a
 * protection error. A {@link MemorySegment} or ByteBuffer of memory that was allocated for the
 * region reads zeros after the close. Memory of the caller is not changed by it.
 *
 * <p>All methods may be called from any thread. The memory is shared with the device and with all
 * threads; a received message is visible to the thread that polled its completion. A thread that
 * uses a region while another thread closes it may still get the keys, the address and the memory
 * instead of an exception. This does no harm: the device refuses the keys, and the memory reads as
 * zeros or belongs to the caller.
 *
 * @see ProtectionDomain#register(MemoryRegionConfig)
 * @see MemorySlice
 * @see MemoryWindow
 * @see org.rdma4j.memory.SlabPool
 */
public final class MemoryRegion implements AutoCloseable {
  private static final long CLOSED = -1;

  private final ProtectionDomain domain;
  private final Registration registration;
  private final @Nullable MemorySegment segment;
  private final Set<AccessFlag> access;
  private final long address;
  private final long byteSize;

  /** The address of the memory in this process; 0 if the process cannot access it. */
  private final long memoryAddress;

  /**
   * The length of the region, or CLOSED: a request needs one comparison for the bounds and the
   * close. This is a plain field, because it only makes the message clear: the device refuses the
   * key of a closed region anyway.
   */
  private long reach;

  private final int localKey;
  private final int remoteKey;
  private final Referent referent;
  private final Lifetime lifetime;

  /** What counts the operations on the memory; null if it does not consist of such pieces. */
  private @Nullable ReusedPieces pieces;

  /**
   * Creates the object for memory that has just been registered.
   *
   * @param name the name of the region in messages
   * @param address the address of the first byte in requests
   */
  private MemoryRegion(
      ProtectionDomain domain,
      Registration registration,
      String name,
      long address,
      long byteSize,
      Set<AccessFlag> access) {
    this.domain = domain;
    this.registration = registration;
    RegionMemory memory = registration.memory();
    this.segment = memory.isAccessible() ? memory.segment() : null;
    this.memoryAddress = segment == null ? 0 : segment.address();
    this.access = Collections.unmodifiableSet(access);
    this.byteSize = byteSize;
    this.address = address;
    this.reach = byteSize;
    this.localKey = ibv_mr.lkey(registration.region());
    this.remoteKey = ibv_mr.rkey(registration.region());
    // A strong reference from the lifetime would keep this object reachable, and a region that is
    // never closed would not be reported.
    WeakReference<MemoryRegion> self = new WeakReference<>(this);
    boolean bindable = access.contains(AccessFlag.MEMORY_WINDOW_BIND);
    String nameOnDevice = name + " of " + domain.device().info().name();
    Referent pointedTo = Referent.of(nameOnDevice);
    this.referent = pointedTo;
    HotCalls posts = domain.referringPosts();
    RegionsByKey regions = domain.regions();
    int key = localKey;
    this.lifetime =
        new Lifetime(
            nameOnDevice,
            () -> end(self),
            () -> {
              regions.remove(key, self);
              if (bindable) {
                pointedTo.leave(posts);
              } else {
                pointedTo.leaveWatchers();
              }
              registration.end();
            },
            registration.dependsOn(domain).toArray(Lifetime[]::new));
    Leaks.watch(this, lifetime);
    regions.add(key, self);
    closeBeforeArena(memory);
  }

  private static void end(WeakReference<MemoryRegion> self) {
    MemoryRegion region = self.get();
    if (region != null) {
      region.reach = CLOSED;
    }
  }

  private void closeBeforeArena(RegionMemory memory) {
    try {
      memory.closeBeforeArena(lifetime);
    } catch (RuntimeException closed) {
      lifetime.close();
      throw closed;
    }
  }

  /** Registers the memory that the configuration describes. */
  static MemoryRegion register(ProtectionDomain domain, MemoryRegionConfig config) {
    MemoryKind kind = config.kind();
    kind.check(domain, config);
    DmaHandle handle = config.dmaHandle();
    if (handle != null) {
      SameDevice.check("DMA handle", handle.device(), domain.device());
    }
    return domain
        .lifetime()
        .whileOpen(
            () -> {
              RegionMemory memory = kind.obtain();
              try {
                return Lifetime.whileAllOpen(
                    memory.dependsOn(domain, handle),
                    () ->
                        new MemoryRegion(
                            domain,
                            Registration.of(domain, memory, config),
                            kind.regionName(),
                            config.remoteAddress().orElse(kind.defaultAddress(memory)),
                            kind.bytes(),
                            config.access()));
              } catch (RuntimeException failed) {
                memory.free();
                throw failed;
              }
            });
  }

  /** Imports a region that another context of the same device file registered. */
  static MemoryRegion imported(ProtectionDomain domain, int kernelHandle, long remoteAddress) {
    return domain
        .lifetime()
        .whileOpen(
            () -> {
              Registration registration = Registration.imported(domain, kernelHandle);
              long bytes = ibv_mr.length(registration.region());
              return new MemoryRegion(
                  domain,
                  registration,
                  "imported memory region of " + bytes + " bytes",
                  remoteAddress,
                  bytes,
                  EnumSet.noneOf(AccessFlag.class));
            });
  }

  /**
   * Returns the length of the region.
   *
   * @return the length in bytes that was requested
   */
  public long byteSize() {
    return byteSize;
  }

  /**
   * Returns what the device and peers may do with the region.
   *
   * @return the flags of the registration
   */
  public Set<AccessFlag> access() {
    return access;
  }

  /**
   * Returns the local key, {@code lkey}, by which requests of this process name the region.
   *
   * @return the key
   */
  public int localKey() {
    checkOpen();
    return localKey;
  }

  /**
   * Returns the remote key, {@code rkey}, by which requests of a peer name the region.
   *
   * @return the key
   */
  public int remoteKey() {
    checkOpen();
    return remoteKey;
  }

  /**
   * Returns the address of the first byte in requests of this process and of peers. It is the
   * address of the memory in this process, unless another one (IOVA) was registered.
   *
   * @return the address, as an unsigned number
   */
  public long remoteAddress() {
    checkOpen();
    return address;
  }

  /**
   * Returns the memory of the region, which any thread may read and write. If the memory is the
   * caller's, this is the segment that the caller registered.
   *
   * @return the memory
   * @throws UnsupportedOperationException if this process cannot access the memory: for a null
   *     region, an imported region, and a region of device memory or a DMA buffer
   */
  public MemorySegment segment() {
    checkOpen();
    if (segment == null) {
      throw new UnsupportedOperationException(this + " has no memory that this process can access");
    }
    return segment;
  }

  /**
   * Returns the memory of the region as a ByteBuffer. Its byte order is big-endian, as that of
   * every new ByteBuffer.
   *
   * @return the memory
   * @throws UnsupportedOperationException if the region is longer than a ByteBuffer can be, 2 GiB -
   *     1 (use slices then), or if this process cannot access the memory
   */
  public ByteBuffer byteBuffer() {
    return slice(0, byteSize).byteBuffer();
  }

  /**
   * Returns a part of the region.
   *
   * @param offset the offset of the first byte
   * @param length the length in bytes, may be 0
   * @return the part
   * @throws IndexOutOfBoundsException if the part is not within the region
   */
  public MemorySlice slice(long offset, long length) {
    addressOf(offset, length);
    return new MemorySlice(this, offset, length);
  }

  /**
   * Returns the size of a page of this system, which is not always 4096 bytes. Memory that is
   * allocated for a region begins at a page boundary.
   *
   * @return the size in bytes
   */
  public static long pageSize() {
    return PageMemory.pageSize();
  }

  /**
   * Returns the protection domain that this region belongs to.
   *
   * @return the domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * Returns the native {@code struct ibv_mr *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(registration::region);
  }

  /**
   * Returns the kernel's handle of the region, {@code handle} of {@code struct ibv_mr}, for {@link
   * ProtectionDomain#importRegion}.
   *
   * @return the handle, which is valid only together with the file descriptor of the device
   */
  public int kernelHandle() {
    return lifetime.whileOpen(() -> ibv_mr.handle(registration.region()));
  }

  /**
   * Changes the registration: {@code ibv_rereg_mr}. This is cheaper than a new registration. The
   * returned region replaces this one, which is closed. The keys may be different. Memory that was
   * allocated for this region is freed if the change replaces it.
   *
   * @param change what to change
   * @return the changed region
   * @throws IllegalArgumentException if the change is empty, if the access flags or the new length
   *     are invalid as described for {@link ProtectionDomain#register(MemoryRegionConfig)}, or if
   *     the new domain belongs to another device
   * @throws UnsupportedOperationException if this process cannot access the memory
   * @throws RdmaException if it fails: EOPNOTSUPP if the device does not support it, EBUSY while a
   *     memory window is bound. If the failure has made the region unusable, the region is closed
   *     and the message says so; otherwise the region is unchanged
   */
  public MemoryRegion reregister(MemoryRegionChange change) {
    segment();
    if (change.flags() == 0) {
      throw new IllegalArgumentException(
          "the change is empty, must set a domain, the access or the memory");
    }
    ProtectionDomain newDomain = change.domainOr(domain);
    SameDevice.check("new domain", newDomain.device(), domain.device());
    RegistrationRules.checkAccess(change.accessOr(access));
    Reregistered done =
        lifetime.whileOpen(
            () ->
                Lifetime.whileAllOpen(
                    registration.dependsOn(newDomain), () -> apply(change, newDomain)));
    if (done.region != null) {
      // The registration has been handed over, so this close deregisters nothing.
      close();
      return done.region;
    }
    RdmaException failure = Objects.requireNonNull(done.changed.failure());
    if (done.changed.dead()) {
      try {
        close();
      } catch (RuntimeException alsoFailed) {
        failure.addSuppressed(alsoFailed);
      }
    }
    throw failure;
  }

  private record Reregistered(Registration.Changed changed, @Nullable MemoryRegion region) {}

  private Reregistered apply(MemoryRegionChange change, ProtectionDomain newDomain) {
    MemoryKind.OfProcess newKind = change.memory();
    if (newKind != null) {
      RegistrationRules.checkLength(newDomain.device(), newKind.bytes());
    }
    RegionMemory newMemory = newKind == null ? null : newKind.obtain();
    Registration.Changed changed;
    try {
      RegistrationRules.checkMemory(
          newMemory == null ? segment() : newMemory.segment(), change.accessOr(access));
      changed =
          registration.change(
              change.flags(),
              change.changesDomain() ? newDomain.pointer() : MemorySegment.NULL,
              newMemory,
              change.changesAccess() ? NativeConstants.mask(change.accessOr(access)) : 0);
    } catch (RuntimeException refused) {
      if (newMemory != null) {
        newMemory.free();
      }
      throw refused;
    }
    Registration successor = changed.successor();
    if (successor == null) {
      if (newMemory != null) {
        newMemory.free();
      }
      return new Reregistered(changed, null);
    }
    MemorySegment memory = successor.memory().segment();
    return new Reregistered(
        changed,
        new MemoryRegion(
            newDomain,
            successor,
            "memory region of " + memory.byteSize() + " bytes",
            newMemory == null ? address : memory.address(),
            memory.byteSize(),
            change.accessOr(access)));
  }

  /**
   * Closes the memory windows that are bound to the region, deregisters the memory, {@code
   * ibv_dereg_mr}, and frees it if it was allocated for the region. Does nothing if it is already
   * closed.
   *
   * @throws RdmaException if the deregistration fails; the memory is not freed then
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this region open. */
  MemorySegment pointer() {
    return registration.region();
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** See {@link org.rdma4j.verbs.internal.VerbsAccess#setPieces}. */
  void setPieces(ReusedPieces consistsOf) {
    pieces = consistsOf;
  }

  @Nullable ReusedPieces pieces() {
    return pieces;
  }

  /** Returns what a request keeps that must not be posted after this region is closed. */
  Referent referent() {
    return referent;
  }

  /** Returns the windows that are bound to this region. */
  BoundWindows windows() {
    return registration.windows();
  }

  /**
   * Returns the address of a part, for a request of this process.
   *
   * @throws IndexOutOfBoundsException if the part is not within the region
   */
  long addressOf(long offset, long length) {
    if ((offset | length) < 0 || length > reach - offset) {
      checkOpen();
      throw outOfBounds(offset, length);
    }
    return address + offset;
  }

  /**
   * Returns the address of a part in the memory of this process, which must have access to it.
   *
   * @throws IndexOutOfBoundsException if the part is not within the region
   */
  long memoryAddressOf(long offset, long length) {
    return addressOf(offset, length) - address + memoryAddress;
  }

  /**
   * Returns whether a piece with this key lies within this region.
   *
   * @param isMemory whether the address is that of the memory in this process
   */
  boolean has(int key, long pieceAddress, long length, boolean isMemory) {
    long offset = pieceAddress - start(isMemory);
    return key == localKey && offset >= 0 && length <= byteSize - offset;
  }

  /** Returns the address of the first byte, for a request or of the memory in this process. */
  private long start(boolean isMemory) {
    return isMemory ? memoryAddress : address;
  }

  /** Returns where the pieces of this region can lie. */
  PreparedRequests.Place place(boolean isMemory) {
    return new PreparedRequests.Place(start(isMemory), byteSize);
  }

  /** Returns the local key without a check, after a call of {@link #addressOf}. */
  int key() {
    return localKey;
  }

  /**
   * Throws an exception if the region is closed. It is cheap enough for loops that post, because it
   * reads a plain field: reading a volatile one would force the compiler to reload all other
   * fields. So a close by another thread may be noticed late.
   */
  public void checkOpen() {
    if (reach == CLOSED) {
      throw lifetime.closed();
    }
  }

  private IndexOutOfBoundsException outOfBounds(long offset, long length) {
    return new IndexOutOfBoundsException(
        "offset "
            + offset
            + " and length "
            + length
            + " are not within the "
            + byteSize
            + " bytes of the region");
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
