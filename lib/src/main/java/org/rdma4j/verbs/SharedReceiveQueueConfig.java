package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_srq_attr;
import org.rdma4j.bindings.generated.ibv_srq_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_tm_cap;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.datapath.PollPause;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.TagMatchingCapabilities;

/**
 * The attributes that a shared receive queue is created with: {@code struct ibv_srq_init_attr_ex}.
 * Instances are immutable; each method that takes a value returns a changed copy.
 *
 * @param type the type of the queue; default BASIC
 * @param depth the maximum number of posted receives
 * @param sges the maximum number of pieces (scatter/gather elements) of a receive; default 1
 * @param completions the completion queue of the receives; null for type BASIC, whose receives
 *     complete on the queues of the queue pairs
 * @param xrcDomain the XRC domain of a queue of type XRC; null for other types
 * @param maxTags the maximum number of tagged receives of a queue of type TAG_MATCHING; 0 for other
 *     types
 * @param maxTagOperations the maximum number of outstanding {@link TagOperations} of a queue of
 *     type TAG_MATCHING; 0 for other types
 * @param access how receives are posted; default BY_PROVIDER
 * @see ProtectionDomain#createSharedReceiveQueue(SharedReceiveQueueConfig)
 */
public record SharedReceiveQueueConfig(
    SharedReceiveQueueType type,
    int depth,
    int sges,
    @Nullable CompletionQueue completions,
    @Nullable XrcDomain xrcDomain,
    int maxTags,
    int maxTagOperations,
    QueueAccess access) {
  /**
   * Checks that what the type requires is set, and nothing else.
   *
   * @throws IllegalArgumentException if a required value is not set, or a value is set that the
   *     type does not use
   */
  public SharedReceiveQueueConfig {
    boolean xrc = type == SharedReceiveQueueType.XRC;
    boolean tagMatching = type == SharedReceiveQueueType.TAG_MATCHING;
    require("completions", type, completions != null, xrc || tagMatching);
    require("xrcDomain", type, xrcDomain != null, xrc);
    require("maxTags", type, maxTags != 0, tagMatching);
    require("maxTagOperations", type, maxTagOperations != 0, tagMatching);
  }

  private static void require(
      String name, SharedReceiveQueueType type, boolean given, boolean needed) {
    if (given != needed) {
      throw new IllegalArgumentException(
          name
              + (given ? " is set, must not be set for " : " is not set, must be set for ")
              + type);
    }
  }

  /**
   * Returns the configuration of a queue of type BASIC, whose receives have one piece.
   *
   * @param depth the maximum number of posted receives, from 1 to {@link
   *     DeviceAttributes#maxSharedReceiveQueueRequests}
   * @return the configuration
   */
  public static SharedReceiveQueueConfig of(int depth) {
    return new SharedReceiveQueueConfig(
        SharedReceiveQueueType.BASIC, depth, 1, null, null, 0, 0, QueueAccess.DEFAULT);
  }

  /**
   * Returns a copy with another {@link #sges()}.
   *
   * @param sges the maximum number of pieces (scatter/gather elements) of a receive, from 1 to
   *     {@link DeviceAttributes#maxSharedReceiveQueueSges}
   * @return the copy
   */
  public SharedReceiveQueueConfig sges(int sges) {
    return new SharedReceiveQueueConfig(
        type, depth, sges, completions, xrcDomain, maxTags, maxTagOperations, access);
  }

  /**
   * Returns a copy of type XRC: the sender of an XRC connection names the queue by its {@link
   * SharedReceiveQueue#number}.
   *
   * @param xrcDomain the XRC domain of the receiving queue pairs
   * @param completions the completion queue of the receives; it must have room for all of them
   * @return the copy
   */
  public SharedReceiveQueueConfig xrc(XrcDomain xrcDomain, CompletionQueue completions) {
    return new SharedReceiveQueueConfig(
        SharedReceiveQueueType.XRC, depth, sges, completions, xrcDomain, 0, 0, access);
  }

  /**
   * Returns a copy of type TAG_MATCHING: the device matches messages to receives by their tags. On
   * mlx5 this works only if the port is one of InfiniBand.
   *
   * @param completions the completion queue of the receives and the tag operations; it must have
   *     room for all receives, tagged receives and operations together
   * @param maxTags the maximum number of tagged receives, from 1 to {@link
   *     TagMatchingCapabilities#maxTags}
   * @param maxTagOperations the maximum number of outstanding operations, from 1 to {@link
   *     TagMatchingCapabilities#maxOperations}
   * @return the copy
   */
  public SharedReceiveQueueConfig tagMatching(
      CompletionQueue completions, int maxTags, int maxTagOperations) {
    return new SharedReceiveQueueConfig(
        SharedReceiveQueueType.TAG_MATCHING,
        depth,
        sges,
        completions,
        null,
        maxTags,
        maxTagOperations,
        access);
  }

  /**
   * Returns a copy with another {@link #access()}.
   *
   * @param access how receives are posted. Queue pairs of the queue need completion queues of the
   *     same access. Other values than BY_PROVIDER are experimental, see {@link QueueAccess}
   * @return the copy
   */
  public SharedReceiveQueueConfig access(QueueAccess access) {
    return new SharedReceiveQueueConfig(
        type, depth, sges, completions, xrcDomain, maxTags, maxTagOperations, access);
  }

  /** Throws IllegalArgumentException if the device does not support something. */
  void check(ProtectionDomain domain) {
    RdmaDevice device = domain.device();
    DeviceAttributes limits = device.limits();
    Range.check("depth", depth, 1, limits.maxSharedReceiveQueueRequests());
    Range.check("sges", sges, 1, limits.maxSharedReceiveQueueSges());
    if (completions != null) {
      SameDevice.check("completion queue", completions.device(), device);
      domain.checkThreads(completions);
    }
    if (xrcDomain != null) {
      SameDevice.check("XRC domain", xrcDomain.device(), device);
    }
    Range.check("maxTags", maxTags, 0, Integer.MAX_VALUE);
    Range.check("maxTagOperations", maxTagOperations, 0, Integer.MAX_VALUE);
  }

  /** Returns the lifetimes of the objects that a queue in this domain depends on. */
  List<Lifetime> dependsOn(ProtectionDomain domain) {
    return Stream.of(
            domain.lifetime(),
            completions == null ? null : completions.lifetime(),
            xrcDomain == null ? null : xrcDomain.lifetime())
        .filter(Objects::nonNull)
        .toList();
  }

  /** Returns what stops the polls of the queue's completions. */
  Set<PollPause> pauses() {
    return CompletionQueue.pauses(completions);
  }

  /** Writes the attributes of a queue in this domain. */
  void write(MemorySegment init, ProtectionDomain domain) {
    MemorySegment attributes = ibv_srq_init_attr_ex.attr(init);
    ibv_srq_attr.max_wr(attributes, depth);
    ibv_srq_attr.max_sge(attributes, sges);
    int mask = rdma_h.IBV_SRQ_INIT_ATTR_TYPE() | rdma_h.IBV_SRQ_INIT_ATTR_PD();
    ibv_srq_init_attr_ex.srq_type(init, type.value());
    ibv_srq_init_attr_ex.pd(init, domain.pointer());
    if (completions != null) {
      mask |= rdma_h.IBV_SRQ_INIT_ATTR_CQ();
      ibv_srq_init_attr_ex.cq(init, completions.queue());
    }
    if (xrcDomain != null) {
      mask |= rdma_h.IBV_SRQ_INIT_ATTR_XRCD();
      ibv_srq_init_attr_ex.xrcd(init, xrcDomain.pointer());
    }
    if (maxTags != 0) {
      mask |= rdma_h.IBV_SRQ_INIT_ATTR_TM();
      MemorySegment tags = ibv_srq_init_attr_ex.tm_cap(init);
      ibv_tm_cap.max_num_tags(tags, maxTags);
      ibv_tm_cap.max_ops(tags, maxTagOperations);
    }
    ibv_srq_init_attr_ex.comp_mask(init, mask);
  }
}
