package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** What a shared receive queue is: {@code enum ibv_srq_type}. */
public enum SharedReceiveQueueType implements NativeConstant {
  /** For the queue pairs that are created with it: {@code IBV_SRQT_BASIC}. */
  BASIC(rdma_h.IBV_SRQT_BASIC()),
  /** For extended reliable connections, whose senders name it: {@code IBV_SRQT_XRC}. */
  XRC(rdma_h.IBV_SRQT_XRC()),
  /** For messages that are matched to receives by their tag: {@code IBV_SRQT_TM}. */
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
