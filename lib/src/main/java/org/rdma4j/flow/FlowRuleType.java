package org.rdma4j.flow;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The packets that a flow rule applies to: {@code enum ibv_flow_attr_type}.
 *
 * @see FlowRule
 */
public enum FlowRuleType implements NativeConstant {
  /** The packets that its specifications describe: {@code IBV_FLOW_ATTR_NORMAL}. */
  NORMAL(rdma_h.IBV_FLOW_ATTR_NORMAL()),
  /** All packets that no other rule steers: {@code IBV_FLOW_ATTR_ALL_DEFAULT}. */
  ALL_DEFAULT(rdma_h.IBV_FLOW_ATTR_ALL_DEFAULT()),
  /** All multicast packets that no other rule steers: {@code IBV_FLOW_ATTR_MC_DEFAULT}. */
  MULTICAST_DEFAULT(rdma_h.IBV_FLOW_ATTR_MC_DEFAULT()),
  /** A copy of all packets that the port sends and receives: {@code IBV_FLOW_ATTR_SNIFFER}. */
  SNIFFER(rdma_h.IBV_FLOW_ATTR_SNIFFER());

  private final int value;

  FlowRuleType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
