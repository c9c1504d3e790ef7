package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_qp_cap;

/**
 * The capacities of a queue pair: {@code struct ibv_qp_cap}. The granted capacities are at least
 * the requested ones.
 *
 * @param sendDepth the maximum number of outstanding send requests
 * @param receiveDepth the maximum number of outstanding receive requests
 * @param sendSges the maximum number of pieces (scatter/gather elements) of a send request
 * @param receiveSges the maximum number of pieces (scatter/gather elements) of a receive request
 * @param inlineBytes the maximum number of bytes of a send that can be copied into the request
 *     itself
 * @see QueuePair#capabilities()
 * @see QueuePairConfig
 */
public record QueuePairCapabilities(
    int sendDepth, int receiveDepth, int sendSges, int receiveSges, int inlineBytes) {
  static QueuePairCapabilities read(MemorySegment cap) {
    return new QueuePairCapabilities(
        ibv_qp_cap.max_send_wr(cap),
        ibv_qp_cap.max_recv_wr(cap),
        ibv_qp_cap.max_send_sge(cap),
        ibv_qp_cap.max_recv_sge(cap),
        ibv_qp_cap.max_inline_data(cap));
  }

  void write(MemorySegment cap) {
    ibv_qp_cap.max_send_wr(cap, sendDepth);
    ibv_qp_cap.max_recv_wr(cap, receiveDepth);
    ibv_qp_cap.max_send_sge(cap, sendSges);
    ibv_qp_cap.max_recv_sge(cap, receiveSges);
    ibv_qp_cap.max_inline_data(cap, inlineBytes);
  }
}
