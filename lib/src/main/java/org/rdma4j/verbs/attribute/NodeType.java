package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The kind of node that a device is: {@code enum ibv_node_type}.
 *
 * @see org.rdma4j.verbs.DeviceInfo
 */
public enum NodeType implements NativeConstant {
  /** A kind that this library does not know: {@code IBV_NODE_UNKNOWN}. */
  UNKNOWN(rdma_h.IBV_NODE_UNKNOWN()),
  /** A channel adapter; every RoCE device is one: {@code IBV_NODE_CA}. */
  CHANNEL_ADAPTER(rdma_h.IBV_NODE_CA()),
  /** An InfiniBand switch: {@code IBV_NODE_SWITCH}. */
  SWITCH(rdma_h.IBV_NODE_SWITCH()),
  /** An InfiniBand router: {@code IBV_NODE_ROUTER}. */
  ROUTER(rdma_h.IBV_NODE_ROUTER()),
  /** An iWARP device: {@code IBV_NODE_RNIC}. */
  RNIC(rdma_h.IBV_NODE_RNIC()),
  /** A Cisco usNIC: {@code IBV_NODE_USNIC}. */
  USNIC(rdma_h.IBV_NODE_USNIC()),
  /** A Cisco usNIC over UDP: {@code IBV_NODE_USNIC_UDP}. */
  USNIC_UDP(rdma_h.IBV_NODE_USNIC_UDP()),
  /** None of these: {@code IBV_NODE_UNSPECIFIED}. */
  UNSPECIFIED(rdma_h.IBV_NODE_UNSPECIFIED());

  private final int value;

  NodeType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
