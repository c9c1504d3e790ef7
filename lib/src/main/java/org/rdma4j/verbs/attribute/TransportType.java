package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The transport that a device uses: {@code enum ibv_transport_type}.
 *
 * @see org.rdma4j.verbs.DeviceInfo
 */
public enum TransportType implements NativeConstant {
  /** A transport that this library does not know: {@code IBV_TRANSPORT_UNKNOWN}. */
  UNKNOWN(rdma_h.IBV_TRANSPORT_UNKNOWN()),
  /** InfiniBand, also over Ethernet (RoCE): {@code IBV_TRANSPORT_IB}. */
  INFINIBAND(rdma_h.IBV_TRANSPORT_IB()),
  /** iWARP: {@code IBV_TRANSPORT_IWARP}. */
  IWARP(rdma_h.IBV_TRANSPORT_IWARP()),
  /** Cisco usNIC: {@code IBV_TRANSPORT_USNIC}. */
  USNIC(rdma_h.IBV_TRANSPORT_USNIC()),
  /** Cisco usNIC over UDP: {@code IBV_TRANSPORT_USNIC_UDP}. */
  USNIC_UDP(rdma_h.IBV_TRANSPORT_USNIC_UDP()),
  /** None of these: {@code IBV_TRANSPORT_UNSPECIFIED}. */
  UNSPECIFIED(rdma_h.IBV_TRANSPORT_UNSPECIFIED());

  private final int value;

  TransportType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
