package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_srq_attr;

/**
 * What a shared receive queue has: {@code struct ibv_srq_attr}.
 *
 * @param depth the most receives that can be posted
 * @param sges the most scatter/gather entries of a receive
 * @param limit below how many posted receives an event is raised; 0 where none is, and after it was
 */
public record SharedReceiveQueueAttributes(int depth, int sges, int limit) {
  static SharedReceiveQueueAttributes read(MemorySegment attributes) {
    return new SharedReceiveQueueAttributes(
        ibv_srq_attr.max_wr(attributes),
        ibv_srq_attr.max_sge(attributes),
        ibv_srq_attr.srq_limit(attributes));
  }
}
