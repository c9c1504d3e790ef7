package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The state of a work queue: {@code enum ibv_wq_state}.
 *
 * @see WorkQueue
 */
public enum WorkQueueState implements NativeConstant {
  /** The queue is new, or was reset: {@code IBV_WQS_RESET}. */
  RESET(rdma_h.IBV_WQS_RESET()),
  /** The queue receives: {@code IBV_WQS_RDY}. */
  READY(rdma_h.IBV_WQS_RDY()),
  /**
   * The receives of the queue complete with {@link CompletionStatus#FLUSHED}: {@code IBV_WQS_ERR}.
   */
  ERROR(rdma_h.IBV_WQS_ERR()),
  /** The state is not known: {@code IBV_WQS_UNKNOWN}. */
  UNKNOWN(rdma_h.IBV_WQS_UNKNOWN());

  private final int value;

  WorkQueueState(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
