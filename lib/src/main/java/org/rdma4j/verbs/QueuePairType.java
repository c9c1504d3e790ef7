package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** What a queue pair is: {@code enum ibv_qp_type}. */
public enum QueuePairType implements NativeConstant {
  /** A reliable connection, RC: {@code IBV_QPT_RC}. */
  RELIABLE_CONNECTION(rdma_h.IBV_QPT_RC()),
  /** An unreliable connection, UC: {@code IBV_QPT_UC}. */
  UNRELIABLE_CONNECTION(rdma_h.IBV_QPT_UC()),
  /** Unreliable datagrams, UD: {@code IBV_QPT_UD}. */
  UNRELIABLE_DATAGRAM(rdma_h.IBV_QPT_UD()),
  /** Ethernet frames as they are: {@code IBV_QPT_RAW_PACKET}. */
  RAW_PACKET(rdma_h.IBV_QPT_RAW_PACKET()),
  /** The sending half of an extended reliable connection: {@code IBV_QPT_XRC_SEND}. */
  XRC_SEND(rdma_h.IBV_QPT_XRC_SEND()),
  /** The receiving half of an extended reliable connection: {@code IBV_QPT_XRC_RECV}. */
  XRC_RECEIVE(rdma_h.IBV_QPT_XRC_RECV());

  private final int value;

  QueuePairType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
