package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The type of a shared receive queue: {@code enum ibv_srq_type}.
 *
 * @see SharedReceiveQueueConfig
 */
public enum SharedReceiveQueueType implements NativeConstant {
  /** A queue for the queue pairs that are created with it: {@code IBV_SRQT_BASIC}. */
  BASIC(rdma_h.IBV_SRQT_BASIC()),
  /** A queue for XRC connections; the sender names it in each request: {@code IBV_SRQT_XRC}. */
  XRC(rdma_h.IBV_SRQT_XRC()),
  /** A queue whose receives are matched to messages by their tags: {@code IBV_SRQT_TM}. */
  TAG_MATCHING(rdma_h.IBV_SRQT_TM());

  private final int value;

  SharedReceiveQueueType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
