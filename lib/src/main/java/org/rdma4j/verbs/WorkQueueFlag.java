package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** What a work queue leaves to the device: {@code enum ibv_wq_flags}. */
public enum WorkQueueFlag implements NativeConstant {
  /** The VLAN tag of received packets is stripped: {@code IBV_WQ_FLAGS_CVLAN_STRIPPING}. */
  VLAN_STRIPPING(rdma_h.IBV_WQ_FLAGS_CVLAN_STRIPPING()),
  /**
   * The frame check sequence of received packets is scattered to memory: {@code
   * IBV_WQ_FLAGS_SCATTER_FCS}.
   */
  SCATTER_FCS(rdma_h.IBV_WQ_FLAGS_SCATTER_FCS()),
  /** Packets are held for a while when no receive is posted: {@code IBV_WQ_FLAGS_DELAY_DROP}. */
  DELAY_DROP(rdma_h.IBV_WQ_FLAGS_DELAY_DROP()),
  /**
   * What is written to memory is padded to the cache line: {@code
   * IBV_WQ_FLAGS_PCI_WRITE_END_PADDING}.
   */
  PCI_WRITE_END_PADDING(rdma_h.IBV_WQ_FLAGS_PCI_WRITE_END_PADDING());

  private final int value;

  WorkQueueFlag(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
