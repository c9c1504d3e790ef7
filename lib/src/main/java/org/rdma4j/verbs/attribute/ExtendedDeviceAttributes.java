package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.bindings.generated.ibv_device_attr_ex;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.verbs.RdmaDevice;

/**
 * What a device is and can do beyond {@link DeviceAttributes}: {@code struct ibv_device_attr_ex},
 * by {@code ibv_query_device_ex}. Where the provider knows only {@code ibv_query_device}, all but
 * the basic attributes is zero or empty.
 *
 * @param basic what {@code ibv_query_device} tells
 * @param capabilities what it has said it can, of the basic and the extended flags
 * @param onDemandPaging whether memory may be paged in when the device reaches it
 * @param completionTimestampMask the valid bits of completion timestamps, unsigned; 0 where there
 *     are none
 * @param coreClock the frequency in kHz, unsigned, of the clock of completion timestamps and of
 *     {@link RdmaDevice#rawClock}; 0 where it is not known
 * @param segmentationOffload what it segments for TCP
 * @param receiveSideScaling how it spreads received packets
 * @param maxReceiveWorkQueues the most work queues of the receiving kind, unsigned
 * @param packetPacing how it limits rates
 * @param rawPacket what raw packet queues can leave to it
 * @param tagMatching how it matches tagged messages
 * @param completionModeration how far events can be held back
 * @param maxDeviceMemory how much memory of its own it hands out, in bytes; 0 where none
 * @param pciAtomic its atomic operations over PCI
 * @param ports the number of its ports, also beyond the 255 of {@link DeviceAttributes#ports}; 0
 *     where the kernel does not tell
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
   * @return what it says
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
