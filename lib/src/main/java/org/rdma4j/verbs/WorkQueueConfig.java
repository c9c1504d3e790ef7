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
 * The attributes that a work queue is created with: {@code struct ibv_wq_init_attr}. Instances are
 * immutable; each method that takes a value returns a changed copy.
 *
 * @param completions the completion queue of the receives; it must have room for all of them
 * @param depth the maximum number of outstanding receives
 * @param sges the maximum number of pieces (scatter/gather elements) of a receive; default 1
 * @param flags special features of the device; default none
 * @see ProtectionDomain#createWorkQueue
 */
public record WorkQueueConfig(
    CompletionQueue completions, int depth, int sges, Set<WorkQueueFlag> flags) {
  /** Copies the flags. */
  public WorkQueueConfig {
    flags = Set.copyOf(flags);
  }

  /**
   * Returns the configuration of a queue whose receives have one piece.
   *
   * @param completions the completion queue of the receives
   * @param depth the maximum number of outstanding receives, from 1 to {@link
   *     DeviceAttributes#maxWorkRequests}
   * @return the configuration, with the default of everything else
   */
  public static WorkQueueConfig of(CompletionQueue completions, int depth) {
    return new WorkQueueConfig(completions, depth, 1, Set.of());
  }

  /**
   * Returns a copy with another {@link #sges()}.
   *
   * @param sges the maximum number of pieces (scatter/gather elements) of a receive, from 1 to
   *     {@link DeviceAttributes#maxSges}
   * @return the copy
   */
  public WorkQueueConfig sges(int sges) {
    return new WorkQueueConfig(completions, depth, sges, flags);
  }

  /**
   * Returns a copy with other {@link #flags()}.
   *
   * @param flags special features of the device
   * @return the copy
   */
  public WorkQueueConfig flags(WorkQueueFlag... flags) {
    return new WorkQueueConfig(completions, depth, sges, Set.of(flags));
  }

  /** Throws IllegalArgumentException if the device does not support something. */
  void check(ProtectionDomain domain) {
    RdmaDevice device = domain.device();
    DeviceAttributes limits = device.limits();
    SameDevice.check("completion queue", completions.device(), device);
    domain.checkThreads(completions);
    Range.check("depth", depth, 1, limits.maxWorkRequests());
    Range.check("sges", sges, 1, limits.maxSges());
  }

  /** Writes the attributes of a queue in this domain. */
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
