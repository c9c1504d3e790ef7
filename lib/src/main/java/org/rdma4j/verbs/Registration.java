package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Errno;
import org.rdma4j.bindings.inlines.MemoryVerbs;
import org.rdma4j.lifetime.BoundWindows;

/**
 * A {@code struct ibv_mr}, until it is deregistered or goes over to a region that takes its
 * region's place. It knows nothing of the region that users hold.
 */
final class Registration {
  private final MemorySegment region;
  private final BoundWindows windows;
  private final @Nullable RegionMemory memory;
  private final boolean imported;
  private boolean handedOver;

  private Registration(
      MemorySegment region, BoundWindows windows, @Nullable RegionMemory memory, boolean imported) {
    this.region = region;
    this.windows = windows;
    this.memory = memory;
    this.imported = imported;
    if (memory != null) {
      memory.registered();
    }
  }

  static Registration of(MemorySegment region, @Nullable RegionMemory memory) {
    return new Registration(region, new BoundWindows(), memory, false);
  }

  static Registration imported(MemorySegment region) {
    return new Registration(region, new BoundWindows(), null, true);
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

  /** Deregisters, then frees the memory; windows bound to the region are closed before. */
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
          "The memory stays registered and allocated. Is a memory window bound to it that was made"
              + " through handle()?");
    }
    if (memory != null) {
      memory.free();
    }
  }

  /** How a change of the registration ended. */
  record Changed(@Nullable Registration successor, @Nullable RdmaException failure, boolean dead) {}

  /**
   * Changes the registration, {@code ibv_rereg_mr}; where that succeeds, this one is handed over to
   * the successor.
   *
   * @param flags what changes
   * @param domain the new domain, or NULL
   * @param newMemory the new memory; null where it stays
   * @param access the new access flags, or 0
   */
  synchronized Changed change(
      int flags, MemorySegment domain, @Nullable RegionMemory newMemory, int access) {
    if (handedOver) {
      throw new IllegalStateException("the memory region was registered anew, use its successor");
    }
    MemorySegment segment = newMemory == null ? MemorySegment.NULL : newMemory.segment();
    int result =
        MemoryVerbs.ibv_rereg_mr(region, flags, domain, segment, segment.byteSize(), access);
    // What failed with DO_FORK_OLD concerns children of this process, not the new registration.
    if (result != 0 && result != rdma_h.IBV_REREG_MR_ERR_DO_FORK_OLD()) {
      return failed(result, Errno.errno());
    }
    handedOver = true;
    Registration successor =
        new Registration(region, windows, newMemory == null ? memory : newMemory, imported);
    if (newMemory != null && memory != null) {
      memory.free();
    }
    return new Changed(successor, null, false);
  }

  private static Changed failed(int result, int errno) {
    boolean command =
        result == rdma_h.IBV_REREG_MR_ERR_CMD()
            || result == rdma_h.IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW();
    // A provider without the operation has not touched anything.
    boolean dead = command && errno != ErrorNumber.EOPNOTSUPP.value();
    String call = "ibv_rereg_mr (result " + result + ")";
    return new Changed(
        null,
        dead
            ? new RdmaException(
                call, errno, "The region can no longer be used and was closed: register it again")
            : new RdmaException(call, errno),
        dead);
  }
}
