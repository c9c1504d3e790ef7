package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_qp_cap;

/**
 * What a queue pair was granted, at least what was asked for: {@code struct ibv_qp_cap}.
 *
 * @param sendDepth the most outstanding send requests
 * @param receiveDepth the most outstanding receive requests
 * @param sendSges the most scatter/gather entries of a send request
 * @param receiveSges the most scatter/gather entries of a receive request
 * @param inlineBytes the most bytes of a send that are copied into the request itself
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
