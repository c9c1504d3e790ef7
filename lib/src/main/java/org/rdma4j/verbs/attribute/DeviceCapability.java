package org.rdma4j.verbs.attribute;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * What a device has said it can: {@code enum ibv_device_cap_flags} and the further bits of {@code
 * device_cap_flags_ex}.
 */
public enum DeviceCapability {
  /** The number of requests of a queue pair can be changed: {@code IBV_DEVICE_RESIZE_MAX_WR}. */
  RESIZE_WORK_QUEUES(rdma_h.IBV_DEVICE_RESIZE_MAX_WR()),
  /** Packets with a bad partition key are counted: {@code IBV_DEVICE_BAD_PKEY_CNTR}. */
  BAD_PARTITION_KEY_COUNTER(rdma_h.IBV_DEVICE_BAD_PKEY_CNTR()),
  /** Packets with a wrong qkey are counted: {@code IBV_DEVICE_BAD_QKEY_CNTR}. */
  BAD_QKEY_COUNTER(rdma_h.IBV_DEVICE_BAD_QKEY_CNTR()),
  /** Raw packets can be multicast: {@code IBV_DEVICE_RAW_MULTI}. */
  RAW_MULTICAST(rdma_h.IBV_DEVICE_RAW_MULTI()),
  /** A connection can move to an alternate path by itself: {@code IBV_DEVICE_AUTO_PATH_MIG}. */
  AUTOMATIC_PATH_MIGRATION(rdma_h.IBV_DEVICE_AUTO_PATH_MIG()),
  /** A queue pair in SEND_QUEUE_DRAINED can change its port: {@code IBV_DEVICE_CHANGE_PHY_PORT}. */
  CHANGE_PORT(rdma_h.IBV_DEVICE_CHANGE_PHY_PORT()),
  /** The port of an address handle is checked: {@code IBV_DEVICE_UD_AV_PORT_ENFORCE}. */
  ADDRESS_HANDLE_PORT_ENFORCED(rdma_h.IBV_DEVICE_UD_AV_PORT_ENFORCE()),
  /**
   * A modification can name the current state of the queue pair: {@code
   * IBV_DEVICE_CURR_QP_STATE_MOD}.
   */
  CURRENT_STATE_MODIFIER(rdma_h.IBV_DEVICE_CURR_QP_STATE_MOD()),
  /** A port can be shut down: {@code IBV_DEVICE_SHUTDOWN_PORT}. */
  SHUTDOWN_PORT(rdma_h.IBV_DEVICE_SHUTDOWN_PORT()),
  /** The subnet manager is told how a port is to be initialised: {@code IBV_DEVICE_INIT_TYPE}. */
  INIT_TYPE(rdma_h.IBV_DEVICE_INIT_TYPE()),
  /** There are events for a port becoming active: {@code IBV_DEVICE_PORT_ACTIVE_EVENT}. */
  PORT_ACTIVE_EVENT(rdma_h.IBV_DEVICE_PORT_ACTIVE_EVENT()),
  /** It has a system image GUID: {@code IBV_DEVICE_SYS_IMAGE_GUID}. */
  SYSTEM_IMAGE_GUID(rdma_h.IBV_DEVICE_SYS_IMAGE_GUID()),
  /**
   * It says so to the sender where a receive of RC is missing: {@code IBV_DEVICE_RC_RNR_NAK_GEN}.
   */
  RNR_NAK_GENERATION(rdma_h.IBV_DEVICE_RC_RNR_NAK_GEN()),
  /** A shared receive queue can be resized: {@code IBV_DEVICE_SRQ_RESIZE}. */
  RESIZE_SHARED_RECEIVE_QUEUE(rdma_h.IBV_DEVICE_SRQ_RESIZE()),
  /** Events can be asked for after a number of completions: {@code IBV_DEVICE_N_NOTIFY_CQ}. */
  NOTIFY_AFTER_COMPLETIONS(rdma_h.IBV_DEVICE_N_NOTIFY_CQ()),
  /** There are memory windows of type 1: {@code IBV_DEVICE_MEM_WINDOW}. */
  MEMORY_WINDOW(rdma_h.IBV_DEVICE_MEM_WINDOW()),
  /** It does IP checksums for UD: {@code IBV_DEVICE_UD_IP_CSUM}. */
  UD_IP_CHECKSUM(rdma_h.IBV_DEVICE_UD_IP_CSUM()),
  /** There is XRC: {@code IBV_DEVICE_XRC}. */
  EXTENDED_RELIABLE_CONNECTION(rdma_h.IBV_DEVICE_XRC()),
  /**
   * It does local invalidation and send with invalidation: {@code IBV_DEVICE_MEM_MGT_EXTENSIONS}.
   */
  MEMORY_MANAGEMENT_EXTENSIONS(rdma_h.IBV_DEVICE_MEM_MGT_EXTENSIONS()),
  /** There are memory windows of type 2A: {@code IBV_DEVICE_MEM_WINDOW_TYPE_2A}. */
  MEMORY_WINDOW_TYPE_2A(rdma_h.IBV_DEVICE_MEM_WINDOW_TYPE_2A()),
  /** There are memory windows of type 2B: {@code IBV_DEVICE_MEM_WINDOW_TYPE_2B}. */
  MEMORY_WINDOW_TYPE_2B(rdma_h.IBV_DEVICE_MEM_WINDOW_TYPE_2B()),
  /** It does IP checksums for RC: {@code IBV_DEVICE_RC_IP_CSUM}. */
  RC_IP_CHECKSUM(rdma_h.IBV_DEVICE_RC_IP_CSUM()),
  /** It does IP checksums for raw packets: {@code IBV_DEVICE_RAW_IP_CSUM}. */
  RAW_IP_CHECKSUM(rdma_h.IBV_DEVICE_RAW_IP_CSUM()),
  /** Packets can be steered by flows: {@code IBV_DEVICE_MANAGED_FLOW_STEERING}. */
  MANAGED_FLOW_STEERING(rdma_h.IBV_DEVICE_MANAGED_FLOW_STEERING()),
  /** It can scatter the frame check sequence: {@code IBV_DEVICE_RAW_SCATTER_FCS}. */
  RAW_SCATTER_FCS(1L << 34),
  /** It pads writes over PCI to the cache line: {@code IBV_DEVICE_PCI_WRITE_END_PADDING}. */
  PCI_WRITE_END_PADDING(1L << 36);

  private final long flag;

  DeviceCapability(long flag) {
    this.flag = flag;
  }

  /**
   * The flag in verbs.h, which may be beyond the 32 bits of the other enums.
   *
   * @return the value of the C constant
   */
  public long flag() {
    return flag;
  }

  static Set<DeviceCapability> of(long flags) {
    EnumSet<DeviceCapability> set = EnumSet.noneOf(DeviceCapability.class);
    for (DeviceCapability capability : values()) {
      if ((flags & capability.flag) != 0) {
        set.add(capability);
      }
    }
    return Collections.unmodifiableSet(set);
  }
}
