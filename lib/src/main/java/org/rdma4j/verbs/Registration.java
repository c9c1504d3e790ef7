package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.inlines.MemoryVerbs;
import org.rdma4j.lifetime.BoundWindows;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;

/**
 * A registration: {@code struct ibv_mr}. It ends when it is deregistered, or when a change hands
 * the {@code ibv_mr} over to a successor. It does not know the {@link MemoryRegion} that users
 * hold.
 *
 * <p>Who creates one has checked the arguments, and keeps open what the registration depends on.
 */
final class Registration {
  private final MemorySegment region;
  private final BoundWindows windows;
  private final RegionMemory memory;
  private final boolean imported;
  private final @Nullable DmaHandle dmaHandle;
  private boolean handedOver;

  private Registration(
      MemorySegment region,
      BoundWindows windows,
      RegionMemory memory,
      boolean imported,
      @Nullable DmaHandle dmaHandle) {
    this.region = region;
    this.windows = windows;
    this.memory = memory;
    this.imported = imported;
    this.dmaHandle = dmaHandle;
    memory.registered();
  }

  /** Registers memory as the configuration says. */
  static Registration of(ProtectionDomain domain, RegionMemory memory, MemoryRegionConfig config) {
    return new Registration(
        config.kind().register(domain, memory, config),
        new BoundWindows(),
        memory,
        false,
        config.dmaHandle());
  }

  /** Imports a registration of another context of the same device file. */
  static Registration imported(ProtectionDomain domain, int kernelHandle) {
    MemorySegment region =
        NativeFailures.created(
            domain.device().info().name(),
            "ibv_import_mr(" + kernelHandle + ")",
            MemoryVerbs.ibv_import_mr(domain.pointer(), kernelHandle));
    return new Registration(region, new BoundWindows(), RegionMemory.elsewhere(), true, null);
  }

  MemorySegment region() {
    return region;
  }

  BoundWindows windows() {
    return windows;
  }

  RegionMemory memory() {
    return memory;
  }

  /** Returns what a region of this registration in a domain depends on. */
  List<Lifetime> dependsOn(ProtectionDomain domain) {
    return memory.dependsOn(domain, dmaHandle);
  }

  /** Closes the windows that are bound to the region, deregisters it, and frees the memory. */
  synchronized void end() {
    if (handedOver) {
      return;
    }
    windows.closeBound();
    if (imported) {
      rdma_h.ibv_unimport_mr(region);
      memory.free();
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
    memory.free();
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
    if (newMemory != null) {
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
