package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * A special feature of a work queue, which few devices support: {@code enum ibv_wq_flags}.
 *
 * @see WorkQueueConfig
 */
public enum WorkQueueFlag implements NativeConstant {
  /** The device removes the VLAN tag of received packets: {@code IBV_WQ_FLAGS_CVLAN_STRIPPING}. */
  VLAN_STRIPPING(rdma_h.IBV_WQ_FLAGS_CVLAN_STRIPPING()),
  /**
   * The device writes the frame check sequence of received packets to memory: {@code
   * IBV_WQ_FLAGS_SCATTER_FCS}.
   */
  SCATTER_FCS(rdma_h.IBV_WQ_FLAGS_SCATTER_FCS()),
  /**
   * The device holds packets for a while if no receive is posted, instead of dropping them: {@code
   * IBV_WQ_FLAGS_DELAY_DROP}.
   */
  DELAY_DROP(rdma_h.IBV_WQ_FLAGS_DELAY_DROP()),
  /**
   * The device pads its writes to memory to whole cache lines: {@code
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
