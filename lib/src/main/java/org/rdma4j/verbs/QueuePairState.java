package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** The state of a queue pair: {@code enum ibv_qp_state}. */
public enum QueuePairState implements NativeConstant {
  /** New, or reset: nothing can be posted. {@code IBV_QPS_RESET}. */
  RESET(rdma_h.IBV_QPS_RESET()),
  /** Receives can be posted, none is processed. {@code IBV_QPS_INIT}. */
  INIT(rdma_h.IBV_QPS_INIT()),
  /** Receives are processed. {@code IBV_QPS_RTR}. */
  READY_TO_RECEIVE(rdma_h.IBV_QPS_RTR()),
  /** Sends are processed too. {@code IBV_QPS_RTS}. */
  READY_TO_SEND(rdma_h.IBV_QPS_RTS()),
  /** Sends begun are finished, further ones wait. {@code IBV_QPS_SQD}. */
  SEND_QUEUE_DRAINED(rdma_h.IBV_QPS_SQD()),
  /** A send failed (not on RC); receives go on. {@code IBV_QPS_SQE}. */
  SEND_QUEUE_ERROR(rdma_h.IBV_QPS_SQE()),
  /**
   * Whatever was and is posted completes with {@link CompletionStatus#FLUSHED}. {@code
   * IBV_QPS_ERR}.
   */
  ERROR(rdma_h.IBV_QPS_ERR()),
  /** The library does not know. {@code IBV_QPS_UNKNOWN}. */
  UNKNOWN(rdma_h.IBV_QPS_UNKNOWN());

  private final int value;

  QueuePairState(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
