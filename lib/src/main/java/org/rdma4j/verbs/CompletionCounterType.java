package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * What a completion counter counts: {@code enum ibv_comp_cntr_type}.
 *
 * @see CompletionCounter
 */
public enum CompletionCounterType implements NativeConstant {
  /** Requests that have completed: {@code IBV_COMP_CNTR_TYPE_WRS}. */
  REQUESTS(rdma_h.IBV_COMP_CNTR_TYPE_WRS()),
  /** The bytes of requests that have completed: {@code IBV_COMP_CNTR_TYPE_BYTES}. */
  BYTES(rdma_h.IBV_COMP_CNTR_TYPE_BYTES());

  private final int value;

  CompletionCounterType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
