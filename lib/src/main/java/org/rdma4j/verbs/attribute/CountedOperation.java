package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * An operation of a queue pair that a completion counter counts: {@code enum
 * ibv_qp_attach_comp_cntr_op}.
 *
 * @see CompletionCounterCapabilities
 */
public enum CountedOperation implements NativeConstant {
  /** Sends: {@code IBV_QP_ATTACH_COMP_CNTR_OP_SEND}. */
  SEND(rdma_h.IBV_QP_ATTACH_COMP_CNTR_OP_SEND()),
  /** Receives: {@code IBV_QP_ATTACH_COMP_CNTR_OP_RECV}. */
  RECEIVE(rdma_h.IBV_QP_ATTACH_COMP_CNTR_OP_RECV()),
  /** RDMA reads of this side: {@code IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ}. */
  READ(rdma_h.IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ()),
  /** RDMA reads of the peer: {@code IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ}. */
  READ_BY_PEER(rdma_h.IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ()),
  /** RDMA writes of this side: {@code IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE}. */
  WRITE(rdma_h.IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE()),
  /** RDMA writes of the peer: {@code IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE}. */
  WRITE_BY_PEER(rdma_h.IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE());

  private final int value;

  CountedOperation(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
