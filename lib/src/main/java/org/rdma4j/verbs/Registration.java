package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_mr_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.inlines.MemoryVerbs;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.lifetime.BoundWindows;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;

/**
 * A registration: {@code struct ibv_mr}. It ends when it is deregistered, or when a change hands
 * the {@code ibv_mr} over to a successor. It does not know the {@link MemoryRegion} that users
 * hold.
 *
 * <p>Each static method registers one kind of memory. The caller has checked the arguments, and
 * keeps open what the registration depends on.
 */
final class Registration {
  private final MemorySegment region;
  private final BoundWindows windows;
  private final @Nullable RegionMemory memory;
  private final boolean imported;
  private final @Nullable DmaHandle dmaHandle;
  private boolean handedOver;

  private Registration(
      MemorySegment region,
      BoundWindows windows,
      @Nullable RegionMemory memory,
      boolean imported,
      @Nullable DmaHandle dmaHandle) {
    this.region = region;
    this.windows = windows;
    this.memory = memory;
    this.imported = imported;
    this.dmaHandle = dmaHandle;
    if (memory != null) {
      memory.registered();
    }
  }

  /** Registers memory of this process. */
  static Registration of(
      ProtectionDomain domain,
      RegionMemory memory,
      Set<AccessFlag> access,
      OptionalLong remoteAddress) {
    MemorySegment segment = memory.segment();
    long bytes = segment.byteSize();
    int flags = NativeConstants.mask(access);
    MemorySegment region =
        created(
            domain,
            "ibv_reg_mr(" + bytes + " bytes, " + access + ")",
            remoteAddress.isEmpty()
                ? Verbs.ibv_reg_mr(domain.pointer(), segment, bytes, flags)
                : MemoryVerbs.ibv_reg_mr_iova(
                    domain.pointer(), segment, bytes, remoteAddress.getAsLong(), flags));
    return new Registration(region, new BoundWindows(), memory, false, null);
  }

  /** Registers memory of this process, and tells the device what the handle says about it. */
  static Registration of(
      ProtectionDomain domain,
      RegionMemory memory,
      Set<AccessFlag> access,
      OptionalLong remoteAddress,
      DmaHandle handle) {
    String device = domain.device().info().name();
    NativeFailures.requireFunction(device, "ibv_reg_mr_ex", 59);
    MemorySegment segment = memory.segment();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_mr_init_attr.layout());
      ibv_mr_init_attr.length(init, segment.byteSize());
      ibv_mr_init_attr.access(init, NativeConstants.mask(access));
      ibv_mr_init_attr.addr(init, segment);
      ibv_mr_init_attr.dmah(init, handle.pointer());
      long mask = rdma_h.IBV_REG_MR_MASK_ADDR() | rdma_h.IBV_REG_MR_MASK_DMAH();
      if (remoteAddress.isPresent()) {
        mask |= rdma_h.IBV_REG_MR_MASK_IOVA();
        ibv_mr_init_attr.iova(init, remoteAddress.getAsLong());
      }
      ibv_mr_init_attr.comp_mask(init, mask);
      MemorySegment region =
          created(
              domain,
              "ibv_reg_mr_ex(" + segment.byteSize() + " bytes, " + access + ")",
              Calls.pointer(rdma_h.ibv_reg_mr_ex$address(), domain.pointer(), init));
      return new Registration(region, new BoundWindows(), memory, false, handle);
    }
  }

  /** Registers a part of a DMA buffer. */
  static Registration ofDmaBuffer(
      ProtectionDomain domain,
      int fileDescriptor,
      long offset,
      long bytes,
      long remoteAddress,
      Set<AccessFlag> access) {
    return withoutMemory(
        created(
            domain,
            "ibv_reg_dmabuf_mr(descriptor " + fileDescriptor + ", " + access + ")",
            MemoryVerbs.ibv_reg_dmabuf_mr(
                domain.pointer(),
                offset,
                bytes,
                remoteAddress,
                fileDescriptor,
                NativeConstants.mask(access))));
  }

  /** Registers a part of device memory. */
  static Registration ofDeviceMemory(
      ProtectionDomain domain,
      DeviceMemory memory,
      long offset,
      long bytes,
      Set<AccessFlag> access) {
    return withoutMemory(
        created(
            domain,
            "ibv_reg_dm_mr(" + bytes + " bytes, " + access + ")",
            MemoryVerbs.ibv_reg_dm_mr(
                domain.pointer(), memory.pointer(), offset, bytes, NativeConstants.mask(access))));
  }

  /** Allocates a null region. */
  static Registration ofNothing(ProtectionDomain domain) {
    return withoutMemory(
        created(domain, "ibv_alloc_null_mr", MemoryVerbs.ibv_alloc_null_mr(domain.pointer())));
  }

  /** Imports a registration of another context of the same device file. */
  static Registration imported(ProtectionDomain domain, int kernelHandle) {
    MemorySegment region =
        created(
            domain,
            "ibv_import_mr(" + kernelHandle + ")",
            MemoryVerbs.ibv_import_mr(domain.pointer(), kernelHandle));
    return new Registration(region, new BoundWindows(), null, true, null);
  }

  private static Registration withoutMemory(MemorySegment region) {
    return new Registration(region, new BoundWindows(), null, false, null);
  }

  private static MemorySegment created(ProtectionDomain domain, String call, MemorySegment region) {
    return NativeFailures.created(domain.device().info().name(), call, region);
  }

  MemorySegment region() {
    return region;
  }

  BoundWindows windows() {
    return windows;
  }

  @Nullable RegionMemory memory() {
    return memory;
  }

  /** Returns what a region of this registration, which has memory, depends on. */
  Lifetime[] dependsOn(ProtectionDomain domain) {
    RegionMemory registered = Objects.requireNonNull(memory);
    return dmaHandle == null
        ? registered.dependsOn(domain.lifetime())
        : registered.dependsOn(domain.lifetime(), dmaHandle.lifetime());
  }

  /** Makes a call during which the DMA handle stays open, and the region that this is a part of. */
  <T> T whileOpen(Supplier<T> call) {
    RegionMemory registered = Objects.requireNonNull(memory);
    return dmaHandle == null
        ? registered.whileOpen(call)
        : dmaHandle.lifetime().whileOpen(() -> registered.whileOpen(call));
  }

  /** Closes the windows that are bound to the region, deregisters it, and frees the memory. */
  synchronized void end() {
    if (handedOver) {
      return;
    }
    windows.closeBound();
    if (imported) {
      rdma_h.ibv_unimport_mr(region);
      return;
    }
    int errno = rdma_h.ibv_dereg_mr(region);
    if (errno != 0 && windows.closeLeaving()) {
      errno = rdma_h.ibv_dereg_mr(region);
    }
    if (errno != 0) {
      throw new RdmaException(
          "ibv_dereg_mr",
          errno,
          "The memory stays registered and allocated: perhaps a memory window is bound to it that"
              + " was created with the bindings");
    }
    if (memory != null) {
      memory.free();
    }
  }

  /**
   * The result of a change.
   *
   * @param successor the changed registration; null if the change failed
   * @param failure the failure; null if there was none
   * @param dead whether the failure has made the registration unusable
   */
  record Changed(@Nullable Registration successor, @Nullable RdmaException failure, boolean dead) {}

  /**
   * Changes the registration: {@code ibv_rereg_mr}. If that succeeds, the {@code ibv_mr} is handed
   * over to the successor.
   *
   * @param flags the {@code IBV_REREG_MR_CHANGE_*} flags
   * @param domain the new domain, or NULL
   * @param newMemory the new memory; null if it does not change
   * @param access the new access flags, or 0
   */
  synchronized Changed change(
      int flags, MemorySegment domain, @Nullable RegionMemory newMemory, int access) {
    if (handedOver) {
      throw new IllegalStateException(
          "the memory region has been re-registered: use the region that reregister returned");
    }
    MemorySegment segment = newMemory == null ? MemorySegment.NULL : newMemory.segment();
    int result =
        MemoryVerbs.ibv_rereg_mr(region, flags, domain, segment, segment.byteSize(), access);
    // DO_FORK_OLD concerns only the children of this process: the new registration is valid.
    if (result != 0 && result != rdma_h.IBV_REREG_MR_ERR_DO_FORK_OLD()) {
      return failed(result, Errno.errno());
    }
    handedOver = true;
    Registration successor =
        new Registration(
            region, windows, newMemory == null ? memory : newMemory, imported, dmaHandle);
    if (newMemory != null && memory != null) {
      memory.free();
    }
    return new Changed(successor, null, false);
  }

  private static Changed failed(int result, int errno) {
    boolean command =
        result == rdma_h.IBV_REREG_MR_ERR_CMD()
            || result == rdma_h.IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW();
    // A provider that does not support the operation has changed nothing.
    boolean dead = command && errno != ErrorNumber.EOPNOTSUPP.value();
    String call = "ibv_rereg_mr (result " + result + ")";
    return new Changed(
        null,
        dead
            ? new RdmaException(
                call,
                errno,
                "The region is unusable and has been closed: register the memory again")
            : new RdmaException(call, errno),
        dead);
  }
}
