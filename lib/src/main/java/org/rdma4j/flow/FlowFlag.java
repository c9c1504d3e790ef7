package org.rdma4j.flow;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * A flag of a flow rule: {@code enum ibv_flow_flags}.
 *
 * @see FlowRule
 */
public enum FlowFlag implements NativeConstant {
  /** Rules of a lower priority also get the packets: {@code IBV_FLOW_ATTR_FLAGS_DONT_TRAP}. */
  DONT_TRAP(rdma_h.IBV_FLOW_ATTR_FLAGS_DONT_TRAP()),
  /** The rule applies to packets that are sent: {@code IBV_FLOW_ATTR_FLAGS_EGRESS}. */
  EGRESS(rdma_h.IBV_FLOW_ATTR_FLAGS_EGRESS());

  private final int value;

  FlowFlag(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
