package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.datapath.Destination;

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
   * Scalable reliable datagrams (SRD) of EFA devices: messages of up to {@link
   * org.rdma4j.verbs.attribute.PortAttributes#maxMessageSize} bytes to any queue pair of this type,
   * reads, and writes. Each arrives once, but not in the order of the requests. What a device
   * supports of it, {@link RdmaDevice#efaAttributes} says. A read or write has one piece at most,
   * and the peer's protection domain needs an address handle for this port; libefa reports the
   * completion of a read as {@link CompletionOpcode#SEND}. {@code IBV_QPT_DRIVER}, created by
   * {@code efadv_create_qp_ex}.
   *
   * @see QueuePairConfig#reliableDatagram
   */
  SCALABLE_RELIABLE_DATAGRAM(rdma_h.IBV_QPT_DRIVER());

  private final int value;

  QueuePairType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }

  /** Returns what each request names as its destination. */
  Destination destination() {
    return switch (this) {
      case UNRELIABLE_DATAGRAM -> Destination.DATAGRAM;
      case SCALABLE_RELIABLE_DATAGRAM -> Destination.RELIABLE_DATAGRAM;
      case XRC_SEND -> Destination.SHARED_RECEIVE_QUEUE;
      default -> Destination.NONE;
    };
  }

  /** Returns whether each request names an address handle and a queue pair. */
  boolean isDatagram() {
    return destination().isDatagram();
  }
}
