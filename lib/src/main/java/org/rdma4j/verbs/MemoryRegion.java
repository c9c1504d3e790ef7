package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_mr;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.Referent;
import org.rdma4j.lifetime.BoundWindows;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.PageMemory;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;

/**
 * A memory region, {@code struct ibv_mr}: memory outside the Java heap that the device reads and
 * writes.
 *
 * <p>Closing it while requests that use it are outstanding is safe: they end in a protection error.
 * A view of memory that was allocated for it reads zeros when it is kept beyond that; memory of the
 * caller stays what it is.
 *
 * <p>All methods may be called from any thread. The memory itself is shared with the device and
 * with every thread; a received message is visible to the thread that polled its completion. A
 * thread that uses the region while another closes it may be late to be told so, and still get the
 * keys, the address and the memory: the device refuses the keys, and the memory reads as zeros or
 * is the caller's.
 */
public final class MemoryRegion implements AutoCloseable {
  private static final long CLOSED = -1;

  private final ProtectionDomain domain;
  private final Registration registration;
  private final @Nullable MemorySegment segment;
  private final Set<AccessFlag> access;
  private final long address;
  private final long byteSize;

  /**
   * How far requests may reach: one look tells bounds and closing. A plain field, since it protects
   * the message and not the process: the device refuses the key of a closed region.
   */
  private long reach;

  private final int localKey;
  private final int remoteKey;
  private final Referent referent;
  private final Lifetime lifetime;

  /**
   * A region that has just been registered.
   *
   * @param kind what messages call it
   * @param address by which requests name its first byte
   * @param dependsOn what it depends on besides the domain
   */
  private MemoryRegion(
      ProtectionDomain domain,
      Registration registration,
      String kind,
      long address,
      long byteSize,
      Set<AccessFlag> access,
      Lifetime... dependsOn) {
    this.domain = domain;
    this.registration = registration;
    RegionMemory memory = registration.memory();
    this.segment = memory == null ? null : memory.segment();
    this.access = Collections.unmodifiableSet(access);
    this.byteSize = byteSize;
    this.address = address;
    this.reach = byteSize;
    this.localKey = ibv_mr.lkey(registration.region());
    this.remoteKey = ibv_mr.rkey(registration.region());
    // The lifetime must not keep this reachable, or nobody would be told that it was never closed.
    WeakReference<MemoryRegion> self = new WeakReference<>(this);
    boolean bindable = access.contains(AccessFlag.MEMORY_WINDOW_BIND);
    Referent pointedTo = Referent.of(kind + " of " + domain.device().info().name());
    this.referent = pointedTo;
    HotCalls posts = domain.referringPosts();
    this.lifetime =
        new Lifetime(
            kind + " of " + domain.device().info().name(),
            () -> end(self),
            () -> {
              if (bindable) {
                pointedTo.leave(posts);
              }
              registration.end();
            },
            dependsOn);
    Leaks.watch(this, lifetime);
    if (memory != null) {
      closeBeforeArena(memory);
    }
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

  /** Registers memory of this process as the configuration says. */
  static MemoryRegion register(ProtectionDomain domain, MemoryRegionConfig config) {
    Set<AccessFlag> access = config.access();
    RegistrationRules.checkAccess(access);
    RegistrationRules.checkLength(domain.device(), config.bytes());
    return domain
        .lifetime()
        .whileOpen(
            () -> {
              RegionMemory memory = config.memory();
              try {
                RegistrationRules.checkWritable(memory.segment(), access);
                RegistrationRules.checkAddress(memory.segment(), config.remoteAddress());
                return memory.whileOpen(
                    () -> register(domain, memory, access, config.remoteAddress()));
              } catch (RuntimeException failed) {
                memory.free();
                throw failed;
              }
            });
  }

  private static MemoryRegion register(
      ProtectionDomain domain,
      RegionMemory memory,
      Set<AccessFlag> access,
      OptionalLong remoteAddress) {
    long bytes = memory.segment().byteSize();
    return new MemoryRegion(
        domain,
        Registration.of(domain, memory, access, remoteAddress),
        "memory region of " + bytes + " bytes",
        remoteAddress.orElse(memory.segment().address()),
        bytes,
        access,
        memory.dependsOn(domain.lifetime()));
  }

  /** Registers a part of a DMA buffer. */
  static MemoryRegion registerDmaBuffer(
      ProtectionDomain domain,
      int fileDescriptor,
      long offset,
      long bytes,
      long remoteAddress,
      Set<AccessFlag> access) {
    Range.check("fileDescriptor", fileDescriptor, 0, Integer.MAX_VALUE);
    RegistrationRules.checkAccess(access);
    RegistrationRules.checkLength(domain.device(), bytes);
    if (offset < 0 || offset > Long.MAX_VALUE - bytes) {
      throw new IllegalArgumentException(
          "offset is " + offset + ", must be from 0 to " + (Long.MAX_VALUE - bytes));
    }
    return domain
        .lifetime()
        .whileOpen(
            () ->
                new MemoryRegion(
                    domain,
                    Registration.ofDmaBuffer(
                        domain, fileDescriptor, offset, bytes, remoteAddress, access),
                    "memory region of " + bytes + " bytes of a DMA buffer",
                    remoteAddress,
                    bytes,
                    access,
                    domain.lifetime()));
  }

  /** Registers a part of device memory, whose first byte has the address 0. */
  static MemoryRegion register(
      ProtectionDomain domain,
      DeviceMemory memory,
      long offset,
      long bytes,
      Set<AccessFlag> access) {
    SameDevice.check("device memory", memory.device(), domain.device());
    memory.checkPart(offset, bytes);
    RegistrationRules.checkLength(domain.device(), bytes);
    access.add(AccessFlag.ZERO_BASED);
    RegistrationRules.checkAccess(access);
    return Lifetime.whileAllOpen(
        List.of(domain.lifetime(), memory.lifetime()),
        () ->
            new MemoryRegion(
                domain,
                Registration.ofDeviceMemory(domain, memory, offset, bytes, access),
                "memory region of " + bytes + " bytes of device memory",
                0,
                bytes,
                access,
                domain.lifetime(),
                memory.lifetime()));
  }

  /** Allocates a region without memory. */
  static MemoryRegion allocateNull(ProtectionDomain domain) {
    return domain
        .lifetime()
        .whileOpen(
            () ->
                new MemoryRegion(
                    domain,
                    Registration.ofNothing(domain),
                    "null memory region",
                    0,
                    Long.MAX_VALUE,
                    EnumSet.of(AccessFlag.LOCAL_WRITE),
                    domain.lifetime()));
  }

  /** Imports the region of another context of the same device file. */
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
                  EnumSet.noneOf(AccessFlag.class),
                  domain.lifetime());
            });
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
   * The address by which requests and peers name the first byte: the one that it has in this
   * process, unless it was registered with another, its IOVA.
   *
   * @return the address, to be read as unsigned
   * @throws IllegalStateException where the region is closed
   */
  public long remoteAddress() {
    checkOpen();
    return address;
  }

  /**
   * The memory, for reading and writing from any thread; where the region was registered over a
   * segment of the caller's, that very segment.
   *
   * @return all of it
   * @throws IllegalStateException where the region is closed
   * @throws UnsupportedOperationException where this process has no view of the memory: a null
   *     region, one of device memory or a DMA buffer, an imported one
   */
  public MemorySegment segment() {
    checkOpen();
    if (segment == null) {
      throw new UnsupportedOperationException(this + " has no memory that this process can reach");
    }
    return segment;
  }

  /**
   * The memory as a ByteBuffer, in big-endian order as every new one.
   *
   * @return all of it
   * @throws IllegalStateException where the region is closed
   * @throws UnsupportedOperationException where the region is longer than a ByteBuffer can be, 2
   *     GiB - 1: take that of a slice; or where this process has no view of the memory
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
   * Returns the size of a page of this system, which is not always 4096 bytes. Allocated memory
   * begins at a page.
   *
   * @return the size in bytes
   */
  public static long pageSize() {
    return PageMemory.pageSize();
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
    return lifetime.whileOpen(registration::region);
  }

  /**
   * The kernel's handle of the region, {@code handle} of {@code struct ibv_mr}, by which {@link
   * ProtectionDomain#importRegion} finds it.
   *
   * @return the handle, which means something together with the device's file only
   * @throws IllegalStateException where the region is closed
   */
  public int kernelHandle() {
    return lifetime.whileOpen(() -> ibv_mr.handle(registration.region()));
  }

  /**
   * Changes the registration, {@code ibv_rereg_mr}, which is cheaper than a new one. What it
   * returns takes the place of this region, which is closed; memory that was allocated for it and
   * is replaced is freed. Keys may have changed.
   *
   * @param change what to change
   * @return the region in its new form
   * @throws IllegalArgumentException where nothing changes, the access flags or the new length are
   *     refused as in {@link ProtectionDomain#register(MemoryRegionConfig)}, or the new domain is
   *     another device's
   * @throws UnsupportedOperationException where this process has no view of the memory
   * @throws IllegalStateException where this region or the new domain is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device cannot, EBUSY while a memory
   *     window is bound. The message says where the failure made the region unusable, which is
   *     closed then; otherwise it goes on as it was
   */
  public MemoryRegion reregister(Reregistration change) {
    segment();
    if (change.flags() == 0) {
      throw new IllegalArgumentException("the change is none: give it a domain, access or memory");
    }
    ProtectionDomain newDomain = change.domainOr(domain);
    SameDevice.check("new domain", newDomain.device(), domain.device());
    RegistrationRules.checkAccess(change.accessOr(access));
    RegionMemory current = Objects.requireNonNull(registration.memory());
    Reregistered done =
        lifetime.whileOpen(
            () ->
                newDomain
                    .lifetime()
                    .whileOpen(() -> current.whileOpen(() -> apply(change, newDomain))));
    if (done.region != null) {
      // What it was has been handed over, so that nothing is deregistered.
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

  private Reregistered apply(Reregistration change, ProtectionDomain newDomain) {
    RegionMemory newMemory = change.memory();
    Registration.Changed changed;
    try {
      if (newMemory != null) {
        RegistrationRules.checkLength(newDomain.device(), newMemory.segment().byteSize());
      }
      RegistrationRules.checkWritable(
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
    RegionMemory memory = Objects.requireNonNull(successor.memory());
    long bytes = memory.segment().byteSize();
    return new Reregistered(
        changed,
        new MemoryRegion(
            newDomain,
            successor,
            "memory region of " + bytes + " bytes",
            newMemory == null ? address : memory.segment().address(),
            bytes,
            change.accessOr(access),
            memory.dependsOn(newDomain.lifetime())));
  }

  /**
   * Deregisters the memory, {@code ibv_dereg_mr}, then frees it where it was allocated for the
   * region. Memory windows that are bound to it are closed before. Does nothing where it is closed.
   *
   * @throws RdmaException where the deregistration fails; the memory is not freed then
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** The pointer, for a call during which this is open. */
  MemorySegment pointer() {
    return registration.region();
  }

  Lifetime lifetime() {
    return lifetime;
  }

  /** What a request that binds a window to this keeps beside the pointer. */
  Referent referent() {
    return referent;
  }

  /** The windows that are bound to this. */
  BoundWindows windows() {
    return registration.windows();
  }

  /** The address of a part that lies within the region, for a request of this process. */
  long addressOf(long offset, long length) {
    if ((offset | length) < 0 || length > reach - offset) {
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
   * Throws if the region is closed. Cheap enough for loops that post: it reads a plain field, since
   * a volatile one would make the compiler read everything again that it knows. So another thread
   * may learn of a close late.
   *
   * @throws IllegalStateException if the region is closed
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
            + " leave the region's "
            + byteSize
            + " bytes");
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
