package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.rdma4j.bindings.generated.ibv_cq_moderation_caps;
import org.rdma4j.bindings.generated.ibv_device_attr;
import org.rdma4j.bindings.generated.ibv_device_attr_ex;
import org.rdma4j.bindings.generated.ibv_odp_caps;
import org.rdma4j.bindings.generated.ibv_packet_pacing_caps;
import org.rdma4j.bindings.generated.ibv_pci_atomic_caps;
import org.rdma4j.bindings.generated.ibv_rss_caps;
import org.rdma4j.bindings.generated.ibv_tm_caps;
import org.rdma4j.bindings.generated.ibv_tso_caps;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.verbs.attribute.CompletionModerationCapabilities;
import org.rdma4j.verbs.attribute.DeviceCapability;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;
import org.rdma4j.verbs.attribute.OnDemandPagingCapabilities;
import org.rdma4j.verbs.attribute.OnDemandPagingOperation;
import org.rdma4j.verbs.attribute.PacketPacingCapabilities;
import org.rdma4j.verbs.attribute.PciAtomicCapabilities;
import org.rdma4j.verbs.attribute.PciAtomicSize;
import org.rdma4j.verbs.attribute.RawPacketCapability;
import org.rdma4j.verbs.attribute.ReceiveHashField;
import org.rdma4j.verbs.attribute.ReceiveHashFunction;
import org.rdma4j.verbs.attribute.ReceiveSideScalingCapabilities;
import org.rdma4j.verbs.attribute.SegmentationOffloadCapabilities;
import org.rdma4j.verbs.attribute.TagMatchingCapabilities;

/**
 * Each group of capabilities is read from its fields. No software device sets many of them, so the
 * test sets them.
 */
final class ExtendedDeviceAttributesTest {
  /** An unsigned value outside the range of int. */
  private static final int HUGE = 0xF0000001;

  private static final long HUGE_AS_LONG = 0xF0000001L;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment struct = ibv_device_attr_ex.allocate(arena);

  @AfterEach
  void free() {
    arena.close();
  }

  private ExtendedDeviceAttributes read() {
    return ExtendedDeviceAttributes.read(struct);
  }

  @Test
  void aDeviceOfZerosHasNoCapabilities() {
    ExtendedDeviceAttributes none = read();
    assertThat(none.capabilities()).isEmpty();
    assertThat(none.rawPacket()).isEmpty();
    assertThat(none.onDemandPaging())
        .isEqualTo(
            new OnDemandPagingCapabilities(false, false, Set.of(), Set.of(), Set.of(), Set.of()));
    assertThat(none.completionModeration())
        .isEqualTo(new CompletionModerationCapabilities(0, Duration.ZERO));
    assertThat(none.tagMatching()).isEqualTo(new TagMatchingCapabilities(0, 0, false, 0, 0));
  }

  @Test
  void onDemandPagingIsReadForEachTransport() {
    MemorySegment caps = ibv_device_attr_ex.odp_caps(struct);
    MemorySegment transports = ibv_odp_caps.per_transport_caps(caps);
    ibv_odp_caps.general_caps(caps, rdma_h.IBV_ODP_SUPPORT());
    ibv_odp_caps.per_transport_caps.rc_odp_caps(
        transports, rdma_h.IBV_ODP_SUPPORT_READ() | rdma_h.IBV_ODP_SUPPORT_ATOMIC());
    ibv_odp_caps.per_transport_caps.uc_odp_caps(transports, rdma_h.IBV_ODP_SUPPORT_WRITE());
    ibv_odp_caps.per_transport_caps.ud_odp_caps(transports, rdma_h.IBV_ODP_SUPPORT_SEND());
    ibv_device_attr_ex.xrc_odp_caps(struct, rdma_h.IBV_ODP_SUPPORT_SRQ_RECV());
    assertThat(read().onDemandPaging())
        .isEqualTo(
            new OnDemandPagingCapabilities(
                true,
                false,
                EnumSet.of(OnDemandPagingOperation.READ, OnDemandPagingOperation.ATOMIC),
                Set.of(OnDemandPagingOperation.WRITE),
                Set.of(OnDemandPagingOperation.SEND),
                Set.of(OnDemandPagingOperation.SHARED_RECEIVE)));
    ibv_odp_caps.general_caps(caps, rdma_h.IBV_ODP_SUPPORT_IMPLICIT());
    assertThat(read().onDemandPaging().supported()).isFalse();
    assertThat(read().onDemandPaging().implicit()).isTrue();
  }

  @Test
  void flagsOfBothWidthsAreCapabilities() {
    ibv_device_attr.device_cap_flags(ibv_device_attr_ex.orig_attr(struct), rdma_h.IBV_DEVICE_XRC());
    ibv_device_attr_ex.device_cap_flags_ex(struct, 1L << 34 | 1L << 36 | 1L << 60);
    assertThat(read().capabilities())
        .containsExactlyInAnyOrder(
            DeviceCapability.XRC,
            DeviceCapability.RAW_SCATTER_FCS,
            DeviceCapability.PCI_WRITE_END_PADDING);
  }

  @Test
  void theClockIsRead() {
    ibv_device_attr_ex.completion_timestamp_mask(struct, -1);
    ibv_device_attr_ex.hca_core_clock(struct, 156_250);
    assertThat(read().completionTimestampMask()).isEqualTo(-1);
    assertThat(read().coreClock()).isEqualTo(156_250);
  }

  @Test
  void segmentationOffloadIsRead() {
    MemorySegment caps = ibv_device_attr_ex.tso_caps(struct);
    ibv_tso_caps.max_tso(caps, HUGE);
    ibv_tso_caps.supported_qpts(caps, 1 << 8);
    assertThat(read().segmentationOffload())
        .isEqualTo(new SegmentationOffloadCapabilities(HUGE_AS_LONG, 1 << 8));
  }

  @Test
  void receiveSideScalingIsRead() {
    MemorySegment caps = ibv_device_attr_ex.rss_caps(struct);
    ibv_rss_caps.supported_qpts(caps, 1 << 8);
    ibv_rss_caps.max_rwq_indirection_tables(caps, HUGE);
    ibv_rss_caps.max_rwq_indirection_table_size(caps, 7);
    ibv_rss_caps.rx_hash_fields_mask(caps, 1L << 31 | 2);
    ibv_rss_caps.rx_hash_function(caps, (byte) 0xFF);
    assertThat(read().receiveSideScaling())
        .isEqualTo(
            new ReceiveSideScalingCapabilities(
                1 << 8,
                HUGE_AS_LONG,
                7,
                EnumSet.of(ReceiveHashField.INNER, ReceiveHashField.DESTINATION_IPV4),
                Set.of(ReceiveHashFunction.TOEPLITZ)));
  }

  @Test
  void packetPacingIsRead() {
    MemorySegment caps = ibv_device_attr_ex.packet_pacing_caps(struct);
    ibv_packet_pacing_caps.qp_rate_limit_min(caps, 1);
    ibv_packet_pacing_caps.qp_rate_limit_max(caps, HUGE);
    ibv_packet_pacing_caps.supported_qpts(caps, 4);
    assertThat(read().packetPacing()).isEqualTo(new PacketPacingCapabilities(1, HUGE_AS_LONG, 4));
  }

  @Test
  void rawPacketsAreRead() {
    ibv_device_attr_ex.raw_packet_caps(
        struct, rdma_h.IBV_RAW_PACKET_CAP_IP_CSUM() | rdma_h.IBV_RAW_PACKET_CAP_DELAY_DROP());
    assertThat(read().rawPacket())
        .containsExactlyInAnyOrder(RawPacketCapability.IP_CHECKSUM, RawPacketCapability.DELAY_DROP);
  }

  @Test
  void tagMatchingIsRead() {
    MemorySegment caps = ibv_device_attr_ex.tm_caps(struct);
    ibv_tm_caps.max_rndv_hdr_size(caps, 2);
    ibv_tm_caps.max_num_tags(caps, HUGE);
    ibv_tm_caps.flags(caps, rdma_h.IBV_TM_CAP_RC());
    ibv_tm_caps.max_ops(caps, 4);
    ibv_tm_caps.max_sge(caps, 5);
    assertThat(read().tagMatching())
        .isEqualTo(new TagMatchingCapabilities(2, HUGE_AS_LONG, true, 4, 5));
  }

  @Test
  void completionModerationIsInMicroseconds() {
    MemorySegment caps = ibv_device_attr_ex.cq_mod_caps(struct);
    ibv_cq_moderation_caps.max_cq_count(caps, (short) 0xFFFF);
    ibv_cq_moderation_caps.max_cq_period(caps, (short) 0xFFFE);
    assertThat(read().completionModeration())
        .isEqualTo(new CompletionModerationCapabilities(0xFFFF, Duration.ofNanos(0xFFFE * 1000L)));
  }

  @Test
  void atomicsOverPciAreReadBySize() {
    MemorySegment caps = ibv_device_attr_ex.pci_atomic_caps(struct);
    ibv_pci_atomic_caps.fetch_add(caps, (short) 1);
    ibv_pci_atomic_caps.swap(caps, (short) 2);
    ibv_pci_atomic_caps.compare_swap(caps, (short) 6);
    assertThat(read().pciAtomic())
        .isEqualTo(
            new PciAtomicCapabilities(
                Set.of(PciAtomicSize.BYTES_4),
                Set.of(PciAtomicSize.BYTES_8),
                EnumSet.of(PciAtomicSize.BYTES_8, PciAtomicSize.BYTES_16)));
  }

  @Test
  void theRemainingNumbersAreUnsigned() {
    ibv_device_attr_ex.max_wq_type_rq(struct, HUGE);
    ibv_device_attr_ex.max_dm_size(struct, 1L << 40);
    ibv_device_attr_ex.phys_port_cnt_ex(struct, HUGE);
    assertThat(read().maxReceiveWorkQueues()).isEqualTo(HUGE_AS_LONG);
    assertThat(read().maxDeviceMemory()).isEqualTo(1L << 40);
    assertThat(read().ports()).isEqualTo(HUGE_AS_LONG);
  }

  @Test
  void setsCannotBeChanged() {
    assertThat(read().capabilities()).isUnmodifiable();
    assertThat(read().rawPacket()).isUnmodifiable();
  }
}
