package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * What the device can do for raw packet queues: {@code enum ibv_raw_packet_caps}.
 *
 * @see ExtendedDeviceAttributes
 */
public enum RawPacketCapability implements NativeConstant {
  /**
   * The device strips the customer VLAN tag of received packets and reports it in the completion:
   * {@code IBV_RAW_PACKET_CAP_CVLAN_STRIPPING}.
   */
  VLAN_STRIPPING(rdma_h.IBV_RAW_PACKET_CAP_CVLAN_STRIPPING()),
  /**
   * The device writes the frame check sequence of received packets to memory: {@code
   * IBV_RAW_PACKET_CAP_SCATTER_FCS}.
   */
  SCATTER_FCS(rdma_h.IBV_RAW_PACKET_CAP_SCATTER_FCS()),
  /** The device computes and checks IP checksums: {@code IBV_RAW_PACKET_CAP_IP_CSUM}. */
  IP_CHECKSUM(rdma_h.IBV_RAW_PACKET_CAP_IP_CSUM()),
  /**
   * The device delays the drop of packets while no receive is posted: {@code
   * IBV_RAW_PACKET_CAP_DELAY_DROP}.
   */
  DELAY_DROP(rdma_h.IBV_RAW_PACKET_CAP_DELAY_DROP());

  private final int value;

  RawPacketCapability(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
