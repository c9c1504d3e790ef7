package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_srq_attr;

/**
 * The attributes of a shared receive queue: {@code struct ibv_srq_attr}.
 *
 * @param depth the maximum number of posted receives
 * @param sges the maximum number of pieces (scatter/gather elements) of a receive
 * @param limit the number of posted receives below which an event is raised; 0 if none is
 *     requested, or it has been raised
 * @see SharedReceiveQueue#query
 */
public record SharedReceiveQueueAttributes(int depth, int sges, int limit) {
  static SharedReceiveQueueAttributes read(MemorySegment attributes) {
    return new SharedReceiveQueueAttributes(
        ibv_srq_attr.max_wr(attributes),
        ibv_srq_attr.max_sge(attributes),
        ibv_srq_attr.srq_limit(attributes));
  }
}
