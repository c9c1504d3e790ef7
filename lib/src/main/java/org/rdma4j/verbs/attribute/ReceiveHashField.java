package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * A field of a packet that receive side scaling can include in its hash: {@code enum
 * ibv_rx_hash_fields}.
 *
 * @see ReceiveSideScalingCapabilities
 * @see org.rdma4j.verbs.ReceiveHash
 */
public enum ReceiveHashField implements NativeConstant {
  /** The source address of IPv4: {@code IBV_RX_HASH_SRC_IPV4}. */
  SOURCE_IPV4(rdma_h.IBV_RX_HASH_SRC_IPV4()),
  /** The destination address of IPv4: {@code IBV_RX_HASH_DST_IPV4}. */
  DESTINATION_IPV4(rdma_h.IBV_RX_HASH_DST_IPV4()),
  /** The source address of IPv6: {@code IBV_RX_HASH_SRC_IPV6}. */
  SOURCE_IPV6(rdma_h.IBV_RX_HASH_SRC_IPV6()),
  /** The destination address of IPv6: {@code IBV_RX_HASH_DST_IPV6}. */
  DESTINATION_IPV6(rdma_h.IBV_RX_HASH_DST_IPV6()),
  /** The source port of TCP: {@code IBV_RX_HASH_SRC_PORT_TCP}. */
  SOURCE_TCP_PORT(rdma_h.IBV_RX_HASH_SRC_PORT_TCP()),
  /** The destination port of TCP: {@code IBV_RX_HASH_DST_PORT_TCP}. */
  DESTINATION_TCP_PORT(rdma_h.IBV_RX_HASH_DST_PORT_TCP()),
  /** The source port of UDP: {@code IBV_RX_HASH_SRC_PORT_UDP}. */
  SOURCE_UDP_PORT(rdma_h.IBV_RX_HASH_SRC_PORT_UDP()),
  /** The destination port of UDP: {@code IBV_RX_HASH_DST_PORT_UDP}. */
  DESTINATION_UDP_PORT(rdma_h.IBV_RX_HASH_DST_PORT_UDP()),
  /** The security parameters index of IPsec: {@code IBV_RX_HASH_IPSEC_SPI}. */
  IPSEC_SPI(rdma_h.IBV_RX_HASH_IPSEC_SPI()),
  /**
   * Hashes the fields of the inner packet of a tunnel instead of the outer packet: {@code
   * IBV_RX_HASH_INNER}.
   */
  INNER(rdma_h.IBV_RX_HASH_INNER());

  private final int value;

  ReceiveHashField(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
