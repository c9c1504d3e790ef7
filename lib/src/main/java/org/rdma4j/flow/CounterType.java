package org.rdma4j.flow;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * What a counter counts: {@code enum ibv_counter_description}.
 *
 * @see Counters
 */
public enum CounterType implements NativeConstant {
  /** Packets: {@code IBV_COUNTER_PACKETS}. */
  PACKETS(rdma_h.IBV_COUNTER_PACKETS()),
  /** Bytes: {@code IBV_COUNTER_BYTES}. */
  BYTES(rdma_h.IBV_COUNTER_BYTES());

  private final int value;

  CounterType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
