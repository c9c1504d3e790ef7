package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The state of a queue pair: {@code enum ibv_qp_state}.
 *
 * @see QueuePair
 * @see QueuePairChange#state(QueuePairState)
 */
public enum QueuePairState implements NativeConstant {
  /** The queue pair is new or was reset; nothing can be posted: {@code IBV_QPS_RESET}. */
  RESET(rdma_h.IBV_QPS_RESET()),
  /** Receives can be posted, but are not processed: {@code IBV_QPS_INIT}. */
  INIT(rdma_h.IBV_QPS_INIT()),
  /** Receives are processed: {@code IBV_QPS_RTR}. */
  READY_TO_RECEIVE(rdma_h.IBV_QPS_RTR()),
  /**
   * Sends are processed too; this is the normal state of a connected queue pair: {@code
   * IBV_QPS_RTS}.
   */
  READY_TO_SEND(rdma_h.IBV_QPS_RTS()),
  /** Sends that the device has begun are finished, later ones wait: {@code IBV_QPS_SQD}. */
  SEND_QUEUE_DRAINED(rdma_h.IBV_QPS_SQD()),
  /**
   * A send failed, but receives are still processed; this does not happen on reliable connections:
   * {@code IBV_QPS_SQE}.
   */
  SEND_QUEUE_ERROR(rdma_h.IBV_QPS_SQE()),
  /**
   * All outstanding and later requests complete with {@link CompletionStatus#FLUSHED}: {@code
   * IBV_QPS_ERR}.
   */
  ERROR(rdma_h.IBV_QPS_ERR()),
  /** The state is not known: {@code IBV_QPS_UNKNOWN}. */
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
