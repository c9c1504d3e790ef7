package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_srq_attr;
import org.rdma4j.bindings.generated.ibv_srq_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_tm_cap;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.TagMatchingCapabilities;

/**
 * What a shared receive queue is created with: {@code struct ibv_srq_init_attr_ex}. Immutable; each
 * method that takes a value returns a changed copy.
 *
 * @param type what it is; default BASIC
 * @param depth the most receives that can be posted
 * @param sges the most scatter/gather entries of a receive; default 1
 * @param completions where it is told how receives ended; null for BASIC, where that is the queue
 *     of the queue pair
 * @param xrcDomain the domain of one of type XRC; null for others
 * @param maxTags the most tagged receives of a TAG_MATCHING one; 0 for others
 * @param maxTagOperations the most outstanding {@link TagOperations} of a TAG_MATCHING one; 0 for
 *     others
 */
public record SharedReceiveQueueConfig(
    SharedReceiveQueueType type,
    int depth,
    int sges,
    @Nullable CompletionQueue completions,
    @Nullable XrcDomain xrcDomain,
    int maxTags,
    int maxTagOperations) {
  /**
   * Checks that each type has what it needs, and no other.
   *
   * @throws IllegalArgumentException if something is missing or too much
   */
  public SharedReceiveQueueConfig {
    boolean extended = type == SharedReceiveQueueType.XRC;
    boolean tagMatching = type == SharedReceiveQueueType.TAG_MATCHING;
    require("completions", type, completions != null, extended || tagMatching);
    require("xrcDomain", type, xrcDomain != null, extended);
    require("maxTags", type, maxTags != 0, tagMatching);
    require("maxTagOperations", type, maxTagOperations != 0, tagMatching);
  }

  private static void require(
      String name, SharedReceiveQueueType type, boolean given, boolean wanted) {
    if (given != wanted) {
      throw new IllegalArgumentException(
          name
              + (given ? " is given, must not be for " : " is missing, must be given for ")
              + type);
    }
  }

  /**
   * A queue for the queue pairs that are created with it, of receives of one piece.
   *
   * @param depth the most receives that can be posted, from 1 to {@link
   *     DeviceAttributes#maxSharedReceiveQueueRequests}
   * @return the configuration
   */
  public static SharedReceiveQueueConfig of(int depth) {
    return new SharedReceiveQueueConfig(SharedReceiveQueueType.BASIC, depth, 1, null, null, 0, 0);
  }

  /**
   * Returns a copy with another {@link #sges()}.
   *
   * @param sges the most scatter/gather entries of a receive, from 1 to {@link
   *     DeviceAttributes#maxSharedReceiveQueueSges}
   * @return the copy
   */
  public SharedReceiveQueueConfig sges(int sges) {
    return new SharedReceiveQueueConfig(
        type, depth, sges, completions, xrcDomain, maxTags, maxTagOperations);
  }

  /**
   * A copy for extended reliable connections, whose senders name the queue by its {@link
   * SharedReceiveQueue#number}.
   *
   * @param xrcDomain the domain of the receiving queue pairs
   * @param completions where it is told how receives ended; has to hold as many as the queue
   * @return the copy
   */
  public SharedReceiveQueueConfig extended(XrcDomain xrcDomain, CompletionQueue completions) {
    return new SharedReceiveQueueConfig(
        SharedReceiveQueueType.XRC, depth, sges, completions, xrcDomain, 0, 0);
  }

  /**
   * A copy that matches messages to receives by their tag.
   *
   * @param completions where it is told how receives and tag operations ended; has to hold as many
   *     as the queue, the tags and the operations together
   * @param maxTags the most tagged receives, from 1 to {@link TagMatchingCapabilities#maxTags}
   * @param maxTagOperations the most outstanding operations, from 1 to {@link
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
        maxTagOperations);
  }

  /** Refuses what the device does not offer. */
  void check(RdmaDevice device) {
    DeviceAttributes limits = device.limits();
    Range.check("depth", depth, 1, limits.maxSharedReceiveQueueRequests());
    Range.check("sges", sges, 1, limits.maxSharedReceiveQueueSges());
    if (completions != null) {
      SameDevice.check("completion queue", completions.device(), device);
    }
    if (xrcDomain != null) {
      SameDevice.check("XRC domain", xrcDomain.device(), device);
    }
    Range.check("maxTags", maxTags, 0, Integer.MAX_VALUE);
    Range.check("maxTagOperations", maxTagOperations, 0, Integer.MAX_VALUE);
  }

  /** The lives that one of the domain lies within. */
  List<Lifetime> dependsOn(ProtectionDomain domain) {
    return Stream.of(
            domain.lifetime(),
            completions == null ? null : completions.lifetime(),
            xrcDomain == null ? null : xrcDomain.lifetime())
        .filter(Objects::nonNull)
        .toList();
  }

  /** Writes the attributes of one of the domain. */
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
