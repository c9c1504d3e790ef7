package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** What few queue pairs are created with: {@code enum ibv_qp_create_flags}. */
public enum QueuePairFlag implements NativeConstant {
  /**
   * It does not receive the multicast datagrams that it sends: {@code
   * IBV_QP_CREATE_BLOCK_SELF_MCAST_LB}.
   */
  BLOCK_OWN_MULTICAST(rdma_h.IBV_QP_CREATE_BLOCK_SELF_MCAST_LB()),
  /**
   * The frame check sequence of received packets is scattered to memory: {@code
   * IBV_QP_CREATE_SCATTER_FCS}.
   */
  SCATTER_FCS(rdma_h.IBV_QP_CREATE_SCATTER_FCS()),
  /** The VLAN tag of received packets is stripped: {@code IBV_QP_CREATE_CVLAN_STRIPPING}. */
  VLAN_STRIPPING(rdma_h.IBV_QP_CREATE_CVLAN_STRIPPING()),
  /**
   * What is written to memory is padded to the cache line: {@code
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
