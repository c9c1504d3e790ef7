package org.rdma4j.verbs.attribute;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * A capability that a device reports: {@code enum ibv_device_cap_flags}, and the bits that {@code
 * device_cap_flags_ex} adds.
 *
 * @see DeviceAttributes
 */
public enum DeviceCapability {
  /** The number of requests of a queue pair can be changed: {@code IBV_DEVICE_RESIZE_MAX_WR}. */
  RESIZE_WORK_QUEUES(rdma_h.IBV_DEVICE_RESIZE_MAX_WR()),
  /** Packets with a bad partition key are counted: {@code IBV_DEVICE_BAD_PKEY_CNTR}. */
  BAD_PARTITION_KEY_COUNTER(rdma_h.IBV_DEVICE_BAD_PKEY_CNTR()),
  /** Packets with a wrong queue key are counted: {@code IBV_DEVICE_BAD_QKEY_CNTR}. */
  BAD_QKEY_COUNTER(rdma_h.IBV_DEVICE_BAD_QKEY_CNTR()),
  /** Raw packets can be multicast: {@code IBV_DEVICE_RAW_MULTI}. */
  RAW_MULTICAST(rdma_h.IBV_DEVICE_RAW_MULTI()),
  /**
   * A connection can migrate to its alternate path automatically: {@code IBV_DEVICE_AUTO_PATH_MIG}.
   */
  AUTOMATIC_PATH_MIGRATION(rdma_h.IBV_DEVICE_AUTO_PATH_MIG()),
  /** A queue pair in SEND_QUEUE_DRAINED can change its port: {@code IBV_DEVICE_CHANGE_PHY_PORT}. */
  CHANGE_PORT(rdma_h.IBV_DEVICE_CHANGE_PHY_PORT()),
  /** The device checks the port of an address handle: {@code IBV_DEVICE_UD_AV_PORT_ENFORCE}. */
  ADDRESS_HANDLE_PORT_ENFORCED(rdma_h.IBV_DEVICE_UD_AV_PORT_ENFORCE()),
  /** A change of a queue pair can state the current state: {@code IBV_DEVICE_CURR_QP_STATE_MOD}. */
  CURRENT_STATE_MODIFIER(rdma_h.IBV_DEVICE_CURR_QP_STATE_MOD()),
  /** A port can be shut down: {@code IBV_DEVICE_SHUTDOWN_PORT}. */
  SHUTDOWN_PORT(rdma_h.IBV_DEVICE_SHUTDOWN_PORT()),
  /**
   * The device can request from the subnet manager how to initialize a port: {@code
   * IBV_DEVICE_INIT_TYPE}.
   */
  INIT_TYPE(rdma_h.IBV_DEVICE_INIT_TYPE()),
  /**
   * The device raises an event when a port becomes active: {@code IBV_DEVICE_PORT_ACTIVE_EVENT}.
   */
  PORT_ACTIVE_EVENT(rdma_h.IBV_DEVICE_PORT_ACTIVE_EVENT()),
  /** The device has a system image GUID: {@code IBV_DEVICE_SYS_IMAGE_GUID}. */
  SYSTEM_IMAGE_GUID(rdma_h.IBV_DEVICE_SYS_IMAGE_GUID()),
  /**
   * The device notifies the sender (RNR NAK) if no receive is posted on a reliable connection:
   * {@code IBV_DEVICE_RC_RNR_NAK_GEN}.
   */
  RNR_NAK_GENERATION(rdma_h.IBV_DEVICE_RC_RNR_NAK_GEN()),
  /** A shared receive queue can be resized: {@code IBV_DEVICE_SRQ_RESIZE}. */
  RESIZE_SHARED_RECEIVE_QUEUE(rdma_h.IBV_DEVICE_SRQ_RESIZE()),
  /** An event can be requested after a number of completions: {@code IBV_DEVICE_N_NOTIFY_CQ}. */
  NOTIFY_AFTER_COMPLETIONS(rdma_h.IBV_DEVICE_N_NOTIFY_CQ()),
  /** The device supports memory windows of type 1: {@code IBV_DEVICE_MEM_WINDOW}. */
  MEMORY_WINDOW(rdma_h.IBV_DEVICE_MEM_WINDOW()),
  /** The device computes and checks IP checksums for UD: {@code IBV_DEVICE_UD_IP_CSUM}. */
  UD_IP_CHECKSUM(rdma_h.IBV_DEVICE_UD_IP_CSUM()),
  /** The device supports XRC: {@code IBV_DEVICE_XRC}. */
  XRC(rdma_h.IBV_DEVICE_XRC()),
  /**
   * The device supports local invalidation and sends that invalidate a key: {@code
   * IBV_DEVICE_MEM_MGT_EXTENSIONS}.
   */
  MEMORY_MANAGEMENT_EXTENSIONS(rdma_h.IBV_DEVICE_MEM_MGT_EXTENSIONS()),
  /** The device supports memory windows of type 2A: {@code IBV_DEVICE_MEM_WINDOW_TYPE_2A}. */
  MEMORY_WINDOW_TYPE_2A(rdma_h.IBV_DEVICE_MEM_WINDOW_TYPE_2A()),
  /** The device supports memory windows of type 2B: {@code IBV_DEVICE_MEM_WINDOW_TYPE_2B}. */
  MEMORY_WINDOW_TYPE_2B(rdma_h.IBV_DEVICE_MEM_WINDOW_TYPE_2B()),
  /** The device computes and checks IP checksums for RC: {@code IBV_DEVICE_RC_IP_CSUM}. */
  RC_IP_CHECKSUM(rdma_h.IBV_DEVICE_RC_IP_CSUM()),
  /**
   * The device computes and checks IP checksums for raw packets: {@code IBV_DEVICE_RAW_IP_CSUM}.
   */
  RAW_IP_CHECKSUM(rdma_h.IBV_DEVICE_RAW_IP_CSUM()),
  /** Flows can steer packets: {@code IBV_DEVICE_MANAGED_FLOW_STEERING}. */
  MANAGED_FLOW_STEERING(rdma_h.IBV_DEVICE_MANAGED_FLOW_STEERING()),
  /**
   * The device can write the frame check sequence of raw packets to memory: {@code
   * IBV_DEVICE_RAW_SCATTER_FCS}.
   */
  RAW_SCATTER_FCS(1L << 34),
  /**
   * The device can pad its writes over PCI to whole cache lines: {@code
   * IBV_DEVICE_PCI_WRITE_END_PADDING}.
   */
  PCI_WRITE_END_PADDING(1L << 36),
  /**
   * Peers can flush memory so that all of this host sees it: {@code IB_UVERBS_DEVICE_FLUSH_GLOBAL}.
   */
  FLUSH_GLOBAL(1L << 38),
  /** Peers can flush persistent memory: {@code IB_UVERBS_DEVICE_FLUSH_PERSISTENT}. */
  FLUSH_PERSISTENT(1L << 39),
  /** The device supports atomic writes: {@code IB_UVERBS_DEVICE_ATOMIC_WRITE}. */
  ATOMIC_WRITE(1L << 40),
  /**
   * Memory of a confidential virtual machine has to be shared with the host before the device can
   * access it: {@code IBV_DEVICE_CC_DMA_BOUNCE}.
   */
  CC_DMA_BOUNCE(1L << 41);

  private final long flag;

  DeviceCapability(long flag) {
    this.flag = flag;
  }

  /**
   * Returns the flag in verbs.h. Unlike the values of other enums, it may need more than 32 bits.
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
