package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * A special feature of a queue pair, which few devices support: {@code enum ibv_qp_create_flags}.
 *
 * @see QueuePairConfig#flags
 */
public enum QueuePairFlag implements NativeConstant {
  /**
   * The queue pair does not receive the multicast datagrams that it sends itself: {@code
   * IBV_QP_CREATE_BLOCK_SELF_MCAST_LB}.
   */
  BLOCK_OWN_MULTICAST(rdma_h.IBV_QP_CREATE_BLOCK_SELF_MCAST_LB()),
  /**
   * The device writes the frame check sequence of received packets to memory: {@code
   * IBV_QP_CREATE_SCATTER_FCS}.
   */
  SCATTER_FCS(rdma_h.IBV_QP_CREATE_SCATTER_FCS()),
  /** The device removes the VLAN tag of received packets: {@code IBV_QP_CREATE_CVLAN_STRIPPING}. */
  VLAN_STRIPPING(rdma_h.IBV_QP_CREATE_CVLAN_STRIPPING()),
  /**
   * The device pads its writes to memory to whole cache lines: {@code
   * IBV_QP_CREATE_PCI_WRITE_END_PADDING}.
   */
  PCI_WRITE_END_PADDING(rdma_h.IBV_QP_CREATE_PCI_WRITE_END_PADDING());

  private final int value;

  QueuePairFlag(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
