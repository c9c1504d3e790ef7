package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The type of a queue pair: {@code enum ibv_qp_type}.
 *
 * @see QueuePairConfig
 */
public enum QueuePairType implements NativeConstant {
  /**
   * A reliable connection (RC): messages, reads, writes and atomics arrive once and in order.
   * {@code IBV_QPT_RC}.
   */
  RELIABLE_CONNECTION(rdma_h.IBV_QPT_RC()),
  /** An unreliable connection (UC): messages and writes, which can be lost. {@code IBV_QPT_UC}. */
  UNRELIABLE_CONNECTION(rdma_h.IBV_QPT_UC()),
  /**
   * Unreliable datagrams (UD): messages of one packet to any queue pair, which can be lost. {@code
   * IBV_QPT_UD}.
   */
  UNRELIABLE_DATAGRAM(rdma_h.IBV_QPT_UD()),
  /** Complete Ethernet frames: {@code IBV_QPT_RAW_PACKET}. */
  RAW_PACKET(rdma_h.IBV_QPT_RAW_PACKET()),
  /**
   * The sending side of an XRC connection, whose requests name a shared receive queue of the peer:
   * {@code IBV_QPT_XRC_SEND}.
   */
  XRC_SEND(rdma_h.IBV_QPT_XRC_SEND()),
  /** The receiving side of an XRC connection: {@code IBV_QPT_XRC_RECV}. */
  XRC_RECEIVE(rdma_h.IBV_QPT_XRC_RECV()),
  /**
   * A type of the provider's own, such as SRD of EFA or DC of mlx5: {@code IBV_QPT_DRIVER}. {@code
   * ibv_create_qp_ex} cannot say which one, so {@link ProtectionDomain#createQueuePair} refuses it.
   * The functions that can, {@code efadv_create_driver_qp} and {@code mlx5dv_create_qp}, are in the
   * artifact {@code rdma4j-bindings-providers}.
   */
  DRIVER(rdma_h.IBV_QPT_DRIVER());

  private final int value;

  QueuePairType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
