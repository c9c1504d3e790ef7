package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.bindings.generated.ibv_device_attr_ex;
import org.rdma4j.platform.NativeConstants;

/**
 * The attributes and limits of a device beyond {@link DeviceAttributes}: {@code struct
 * ibv_device_attr_ex}, the result of {@code ibv_query_device_ex}. If the provider implements only
 * {@code ibv_query_device}, everything except the basic attributes is zero or empty.
 *
 * @param basic the result of {@code ibv_query_device}
 * @param capabilities the capabilities that the device reports, in the basic and in the extended
 *     flags
 * @param onDemandPaging the support for memory that is paged in when the device accesses it
 * @param completionTimestampMask the valid bits of completion timestamps, as an unsigned number; 0
 *     if the device does not support timestamps
 * @param coreClock the frequency in kHz, as an unsigned number, of the clock of completion
 *     timestamps and of {@link org.rdma4j.verbs.RdmaDevice#rawClock}; 0 if it is not known
 * @param segmentationOffload the support for TCP segmentation
 * @param receiveSideScaling the support for spreading received packets over work queues
 * @param maxReceiveWorkQueues the maximum number of receive work queues
 * @param packetPacing the support for rate limits
 * @param rawPacket what the device can do for raw packet queues
 * @param tagMatching the support for matching tagged messages
 * @param completionModeration the limits for delaying events
 * @param maxDeviceMemory the amount of device memory that can be allocated, in bytes; 0 if the
 *     device does not support it
 * @param pciAtomic the atomic operations over PCI
 * @param ports the number of ports, also if there are more than the 255 that {@link
 *     DeviceAttributes#ports} can return; 0 if the kernel does not report it
 * @see org.rdma4j.verbs.RdmaDevice#extendedAttributes
 * @see DeviceAttributes
 */
public record ExtendedDeviceAttributes(
    DeviceAttributes basic,
    Set<DeviceCapability> capabilities,
    OnDemandPagingCapabilities onDemandPaging,
    long completionTimestampMask,
    long coreClock,
    SegmentationOffloadCapabilities segmentationOffload,
    ReceiveSideScalingCapabilities receiveSideScaling,
    long maxReceiveWorkQueues,
    PacketPacingCapabilities packetPacing,
    Set<RawPacketCapability> rawPacket,
    TagMatchingCapabilities tagMatching,
    CompletionModerationCapabilities completionModeration,
    long maxDeviceMemory,
    PciAtomicCapabilities pciAtomic,
    long ports) {
  /**
   * Reads {@code struct ibv_device_attr_ex}.
   *
   * @param a native memory that holds the struct
   * @return the attributes
   * @throws IndexOutOfBoundsException if the memory is shorter than the struct
   */
  public static ExtendedDeviceAttributes read(MemorySegment a) {
    DeviceAttributes basic = DeviceAttributes.read(ibv_device_attr_ex.orig_attr(a));
    return new ExtendedDeviceAttributes(
        basic,
        DeviceCapability.of(
            Integer.toUnsignedLong(basic.capabilityFlags())
                | ibv_device_attr_ex.device_cap_flags_ex(a)),
        OnDemandPagingCapabilities.read(a),
        ibv_device_attr_ex.completion_timestamp_mask(a),
        ibv_device_attr_ex.hca_core_clock(a),
        SegmentationOffloadCapabilities.read(ibv_device_attr_ex.tso_caps(a)),
        ReceiveSideScalingCapabilities.read(ibv_device_attr_ex.rss_caps(a)),
        Integer.toUnsignedLong(ibv_device_attr_ex.max_wq_type_rq(a)),
        PacketPacingCapabilities.read(ibv_device_attr_ex.packet_pacing_caps(a)),
        NativeConstants.flags(RawPacketCapability.class, ibv_device_attr_ex.raw_packet_caps(a)),
        TagMatchingCapabilities.read(ibv_device_attr_ex.tm_caps(a)),
        CompletionModerationCapabilities.read(ibv_device_attr_ex.cq_mod_caps(a)),
        ibv_device_attr_ex.max_dm_size(a),
        PciAtomicCapabilities.read(ibv_device_attr_ex.pci_atomic_caps(a)),
        Integer.toUnsignedLong(ibv_device_attr_ex.phys_port_cnt_ex(a)));
  }
}
