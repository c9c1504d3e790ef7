package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_device_attr;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NetworkOrder;

/**
 * The attributes and limits of a device: {@code struct ibv_device_attr}, the result of {@code
 * ibv_query_device}.
 *
 * @param firmwareVersion the version of the firmware; empty for software devices
 * @param nodeGuid the GUID of the node
 * @param systemImageGuid the GUID of the system image, the same for all devices of one card
 * @param maxMemoryRegionSize the maximum length of a memory region in bytes, as an unsigned number
 * @param pageSizeCapabilities the page sizes that the device can map, one bit for each
 * @param vendorId the vendor ID, an IEEE OUI
 * @param vendorPartId the vendor's part number
 * @param hardwareVersion the version of the hardware
 * @param maxQueuePairs the maximum number of queue pairs
 * @param maxWorkRequests the maximum number of outstanding work requests of a queue
 * @param capabilityFlags a mask of {@code enum ibv_device_cap_flags}
 * @param maxSges the maximum number of scatter/gather entries of a request
 * @param maxReadSges the maximum number of scatter/gather entries of an RDMA read
 * @param maxCompletionQueues the maximum number of completion queues
 * @param maxCompletionQueueEntries the maximum number of entries of a completion queue
 * @param maxMemoryRegions the maximum number of memory regions
 * @param maxProtectionDomains the maximum number of protection domains
 * @param maxRemoteReads the maximum number of RDMA reads and atomics of the peer that a queue pair
 *     answers at a time
 * @param maxEeRemoteReads the same for an end-to-end context
 * @param maxTotalRemoteReads the maximum number of RDMA reads and atomics of peers that the device
 *     answers at a time
 * @param maxReads the maximum number of RDMA reads and atomics that a queue pair has outstanding
 * @param maxEeReads the same for an end-to-end context
 * @param atomicCapability to what atomic operations are atomic
 * @param maxEeContexts the maximum number of end-to-end contexts
 * @param maxReliableDatagramDomains the maximum number of reliable datagram domains
 * @param maxMemoryWindows the maximum number of memory windows
 * @param maxRawIpv6QueuePairs the maximum number of raw IPv6 queue pairs
 * @param maxRawEthernetQueuePairs the maximum number of raw Ethertype queue pairs
 * @param maxMulticastGroups the maximum number of multicast groups
 * @param maxMulticastQueuePairsPerGroup the maximum number of queue pairs attached to a multicast
 *     group
 * @param maxMulticastQueuePairs the maximum number of attachments of queue pairs to multicast
 *     groups
 * @param maxAddressHandles the maximum number of address handles
 * @param maxFastMemoryRegions the maximum number of fast memory regions
 * @param maxMapsPerFastMemoryRegion the maximum number of remaps of a fast memory region
 * @param maxSharedReceiveQueues the maximum number of shared receive queues
 * @param maxSharedReceiveQueueRequests the maximum number of outstanding requests of a shared
 *     receive queue
 * @param maxSharedReceiveQueueSges the maximum number of scatter/gather entries of a request of a
 *     shared receive queue
 * @param maxPartitionKeys the length of the partition key tables
 * @param localAckDelay the local acknowledgement delay, as an exponent n of 4.096 microseconds x
 *     2^n
 * @param ports the number of ports; they are numbered from 1
 * @see org.rdma4j.verbs.RdmaDevice#attributes()
 * @see ExtendedDeviceAttributes
 * @see PortAttributes
 */
public record DeviceAttributes(
    String firmwareVersion,
    Guid nodeGuid,
    Guid systemImageGuid,
    long maxMemoryRegionSize,
    long pageSizeCapabilities,
    int vendorId,
    int vendorPartId,
    int hardwareVersion,
    int maxQueuePairs,
    int maxWorkRequests,
    int capabilityFlags,
    int maxSges,
    int maxReadSges,
    int maxCompletionQueues,
    int maxCompletionQueueEntries,
    int maxMemoryRegions,
    int maxProtectionDomains,
    int maxRemoteReads,
    int maxEeRemoteReads,
    int maxTotalRemoteReads,
    int maxReads,
    int maxEeReads,
    AtomicCapability atomicCapability,
    int maxEeContexts,
    int maxReliableDatagramDomains,
    int maxMemoryWindows,
    int maxRawIpv6QueuePairs,
    int maxRawEthernetQueuePairs,
    int maxMulticastGroups,
    int maxMulticastQueuePairsPerGroup,
    int maxMulticastQueuePairs,
    int maxAddressHandles,
    int maxFastMemoryRegions,
    int maxMapsPerFastMemoryRegion,
    int maxSharedReceiveQueues,
    int maxSharedReceiveQueueRequests,
    int maxSharedReceiveQueueSges,
    int maxPartitionKeys,
    int localAckDelay,
    int ports) {
  /**
   * Reads {@code struct ibv_device_attr}.
   *
   * @param a native memory that holds the struct
   * @return the attributes
   * @throws IndexOutOfBoundsException if the memory is shorter than the struct
   */
  public static DeviceAttributes read(MemorySegment a) {
    return new DeviceAttributes(
        ibv_device_attr.fw_ver(a).getString(0),
        guid(ibv_device_attr.node_guid(a)),
        guid(ibv_device_attr.sys_image_guid(a)),
        ibv_device_attr.max_mr_size(a),
        ibv_device_attr.page_size_cap(a),
        ibv_device_attr.vendor_id(a),
        ibv_device_attr.vendor_part_id(a),
        ibv_device_attr.hw_ver(a),
        ibv_device_attr.max_qp(a),
        ibv_device_attr.max_qp_wr(a),
        ibv_device_attr.device_cap_flags(a),
        ibv_device_attr.max_sge(a),
        ibv_device_attr.max_sge_rd(a),
        ibv_device_attr.max_cq(a),
        ibv_device_attr.max_cqe(a),
        ibv_device_attr.max_mr(a),
        ibv_device_attr.max_pd(a),
        ibv_device_attr.max_qp_rd_atom(a),
        ibv_device_attr.max_ee_rd_atom(a),
        ibv_device_attr.max_res_rd_atom(a),
        ibv_device_attr.max_qp_init_rd_atom(a),
        ibv_device_attr.max_ee_init_rd_atom(a),
        NativeConstants.of(
            AtomicCapability.class, ibv_device_attr.atomic_cap(a), AtomicCapability.NONE),
        ibv_device_attr.max_ee(a),
        ibv_device_attr.max_rdd(a),
        ibv_device_attr.max_mw(a),
        ibv_device_attr.max_raw_ipv6_qp(a),
        ibv_device_attr.max_raw_ethy_qp(a),
        ibv_device_attr.max_mcast_grp(a),
        ibv_device_attr.max_mcast_qp_attach(a),
        ibv_device_attr.max_total_mcast_qp_attach(a),
        ibv_device_attr.max_ah(a),
        ibv_device_attr.max_fmr(a),
        ibv_device_attr.max_map_per_fmr(a),
        ibv_device_attr.max_srq(a),
        ibv_device_attr.max_srq_wr(a),
        ibv_device_attr.max_srq_sge(a),
        Short.toUnsignedInt(ibv_device_attr.max_pkeys(a)),
        Byte.toUnsignedInt(ibv_device_attr.local_ca_ack_delay(a)),
        Byte.toUnsignedInt(ibv_device_attr.phys_port_cnt(a)));
  }

  private static Guid guid(long networkOrder) {
    return new Guid(NetworkOrder.of(networkOrder));
  }
}
