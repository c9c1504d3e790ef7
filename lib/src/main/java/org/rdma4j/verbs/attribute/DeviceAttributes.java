package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_device_attr;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NetworkOrder;

/**
 * What a device is and can do: {@code struct ibv_device_attr}, by {@code ibv_query_device}.
 *
 * @param firmwareVersion the version of its firmware; empty for software devices
 * @param nodeGuid the GUID of the node
 * @param systemImageGuid the GUID of the system image, equal among devices of one card
 * @param maxMemoryRegionSize the longest memory region, in bytes; to be read as unsigned
 * @param pageSizeCapabilities the page sizes it can map, a bit for each
 * @param vendorId the vendor, an IEEE OUI
 * @param vendorPartId the vendor's number of the part
 * @param hardwareVersion the version of the hardware
 * @param maxQueuePairs the most queue pairs
 * @param maxWorkRequests the most outstanding work requests of a queue
 * @param capabilityFlags a mask of {@code enum ibv_device_cap_flags}
 * @param maxSges the most scatter/gather entries of a request
 * @param maxReadSges the most scatter/gather entries of an RDMA read
 * @param maxCompletionQueues the most completion queues
 * @param maxCompletionQueueEntries the most entries of a completion queue
 * @param maxMemoryRegions the most memory regions
 * @param maxProtectionDomains the most protection domains
 * @param maxResponderReads the most reads and atomics that a queue pair answers at once
 * @param maxEeResponderReads the same for an end-to-end context
 * @param maxResponderResources the most reads and atomics that the device answers at once
 * @param maxInitiatorReads the most reads and atomics that a queue pair has outstanding
 * @param maxEeInitiatorReads the same for an end-to-end context
 * @param atomicCapability how far it is atomic
 * @param maxEeContexts the most end-to-end contexts
 * @param maxReliableDatagramDomains the most reliable datagram domains
 * @param maxMemoryWindows the most memory windows
 * @param maxRawIpv6QueuePairs the most raw IPv6 queue pairs
 * @param maxRawEthernetQueuePairs the most raw Ethertype queue pairs
 * @param maxMulticastGroups the most multicast groups
 * @param maxMulticastQueuePairsPerGroup the most queue pairs of a multicast group
 * @param maxMulticastQueuePairs the most attachments of queue pairs to multicast groups
 * @param maxAddressHandles the most address handles
 * @param maxFastMemoryRegions the most fast memory regions
 * @param maxMapsPerFastMemoryRegion the most remaps of a fast memory region
 * @param maxSharedReceiveQueues the most shared receive queues
 * @param maxSharedReceiveQueueRequests the most outstanding requests of a shared receive queue
 * @param maxSharedReceiveQueueSges the most scatter/gather entries of such a request
 * @param maxPartitionKeys the length of the partition key tables
 * @param localAckDelay the local acknowledgement delay, as an exponent n of 4.096 microseconds x
 *     2^n
 * @param ports the number of its ports, which count from 1
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
    int maxResponderReads,
    int maxEeResponderReads,
    int maxResponderResources,
    int maxInitiatorReads,
    int maxEeInitiatorReads,
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
   * @return what it says
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
