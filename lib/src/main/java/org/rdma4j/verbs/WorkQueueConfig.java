package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.bindings.generated.ibv_wq_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.attribute.DeviceAttributes;

/**
 * What a work queue is created with: {@code struct ibv_wq_init_attr}. Immutable; each method that
 * takes a value returns a changed copy.
 *
 * @param completions where it is told how receives ended; has to hold as many as the queue
 * @param depth the most outstanding receives
 * @param sges the most scatter/gather entries of a receive; default 1
 * @param flags what is left to the device; default nothing
 */
public record WorkQueueConfig(
    CompletionQueue completions, int depth, int sges, Set<WorkQueueFlag> flags) {
  /** Copies the flags. */
  public WorkQueueConfig {
    flags = Set.copyOf(flags);
  }

  /**
   * A queue of receives of one piece.
   *
   * @param completions where it is told how receives ended
   * @param depth the most outstanding receives, from 1 to {@link DeviceAttributes#maxWorkRequests}
   * @return the configuration, everything else at its default
   */
  public static WorkQueueConfig of(CompletionQueue completions, int depth) {
    return new WorkQueueConfig(completions, depth, 1, Set.of());
  }

  /**
   * Returns a copy with another {@link #sges()}.
   *
   * @param sges the most scatter/gather entries of a receive, from 1 to {@link
   *     DeviceAttributes#maxSges}
   * @return the copy
   */
  public WorkQueueConfig sges(int sges) {
    return new WorkQueueConfig(completions, depth, sges, flags);
  }

  /**
   * Returns a copy with other {@link #flags()}.
   *
   * @param flags what is left to the device
   * @return the copy
   */
  public WorkQueueConfig flags(WorkQueueFlag... flags) {
    return new WorkQueueConfig(completions, depth, sges, Set.of(flags));
  }

  /** Refuses what the device does not offer. */
  void check(RdmaDevice device) {
    DeviceAttributes limits = device.limits();
    SameDevice.check("completion queue", completions.device(), device);
    Range.check("depth", depth, 1, limits.maxWorkRequests());
    Range.check("sges", sges, 1, limits.maxSges());
  }

  /** Writes the attributes of one of the domain. */
  void write(MemorySegment init, ProtectionDomain domain) {
    ibv_wq_init_attr.wq_type(init, rdma_h.IBV_WQT_RQ());
    ibv_wq_init_attr.max_wr(init, depth);
    ibv_wq_init_attr.max_sge(init, sges);
    ibv_wq_init_attr.pd(init, domain.pointer());
    ibv_wq_init_attr.cq(init, completions.queue());
    if (!flags.isEmpty()) {
      ibv_wq_init_attr.comp_mask(init, rdma_h.IBV_WQ_INIT_ATTR_FLAGS());
      ibv_wq_init_attr.create_flags(init, NativeConstants.mask(flags));
    }
  }
}
