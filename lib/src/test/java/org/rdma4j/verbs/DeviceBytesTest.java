package org.rdma4j.verbs;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.StandIn.assertAsInC;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.Reading;
import org.rdma4j.StandIn;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.verbs.address.EthernetAddress;
import org.rdma4j.verbs.address.EthernetDestination;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.DeviceCapability;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;
import org.rdma4j.verbs.attribute.OnDemandPagingCapabilities;
import org.rdma4j.verbs.attribute.PortAttributes;
import org.rdma4j.verbs.attribute.PortCapability2;
import org.rdma4j.verbs.attribute.ReceiveSideScalingCapabilities;
import org.rdma4j.verbs.attribute.TagMatchingCapabilities;

/** What a device says about itself is read as C reads it. */
@Tag(StandIn.TAG)
final class DeviceBytesTest {
  private static final Duration MICROSECOND = Duration.ofNanos(1000);

  private final RdmaDevice device = StandIn.open();

  @AfterEach
  void close() {
    device.close();
  }

  private static MemorySegment bigEndian(long value) {
    return MemorySegment.ofArray(ByteBuffer.allocate(Long.BYTES).putLong(value).array());
  }

  @Test
  void theAttributesOfADevice() {
    DeviceAttributes read = device.attributes();
    Reading reading =
        new Reading()
            .line("read_device")
            .bytes("fw_ver", MemorySegment.ofArray(read.firmwareVersion().getBytes(US_ASCII)))
            .bytes("node_guid", bigEndian(read.nodeGuid().value()))
            .bytes("sys_image_guid", bigEndian(read.systemImageGuid().value()))
            .number("atomic_cap", read.atomicCapability().value())
            .number("max_mr_size", read.maxMemoryRegionSize())
            .number("page_size_cap", read.pageSizeCapabilities())
            .number("vendor_id", read.vendorId())
            .number("vendor_part_id", read.vendorPartId())
            .number("hw_ver", read.hardwareVersion())
            .number("max_qp", read.maxQueuePairs())
            .number("max_qp_wr", read.maxWorkRequests())
            .number("device_cap_flags", read.capabilityFlags())
            .number("max_sge", read.maxSges())
            .number("max_sge_rd", read.maxReadSges())
            .number("max_cq", read.maxCompletionQueues())
            .number("max_cqe", read.maxCompletionQueueEntries())
            .number("max_mr", read.maxMemoryRegions())
            .number("max_pd", read.maxProtectionDomains())
            .number("max_qp_rd_atom", read.maxRemoteReads())
            .number("max_ee_rd_atom", read.maxEeRemoteReads())
            .number("max_res_rd_atom", read.maxTotalRemoteReads())
            .number("max_qp_init_rd_atom", read.maxReads())
            .number("max_ee_init_rd_atom", read.maxEeReads())
            .number("max_ee", read.maxEeContexts())
            .number("max_rdd", read.maxReliableDatagramDomains())
            .number("max_mw", read.maxMemoryWindows())
            .number("max_raw_ipv6_qp", read.maxRawIpv6QueuePairs())
            .number("max_raw_ethy_qp", read.maxRawEthernetQueuePairs())
            .number("max_mcast_grp", read.maxMulticastGroups())
            .number("max_mcast_qp_attach", read.maxMulticastQueuePairsPerGroup())
            .number("max_total_mcast_qp_attach", read.maxMulticastQueuePairs())
            .number("max_ah", read.maxAddressHandles())
            .number("max_fmr", read.maxFastMemoryRegions())
            .number("max_map_per_fmr", read.maxMapsPerFastMemoryRegion())
            .number("max_srq", read.maxSharedReceiveQueues())
            .number("max_srq_wr", read.maxSharedReceiveQueueRequests())
            .number("max_srq_sge", read.maxSharedReceiveQueueSges())
            .number("max_pkeys", read.maxPartitionKeys())
            .number("local_ca_ack_delay", read.localAckDelay())
            .number("phys_port_cnt", read.ports());
    assertThat(reading).hasToString(StandIn.transcriptOfC("read_device"));
  }

  @Test
  void theExtendedAttributesOfADevice() {
    ExtendedDeviceAttributes read = device.extendedAttributes();
    OnDemandPagingCapabilities paging = read.onDemandPaging();
    ReceiveSideScalingCapabilities scaling = read.receiveSideScaling();
    TagMatchingCapabilities tags = read.tagMatching();
    Reading reading =
        new Reading()
            .line("read_extended_device")
            .number("odp", paging.supported() ? 1 : 0)
            .number("implicit_odp", paging.implicit() ? 1 : 0)
            .number("tm_rc", tags.reliableConnection() ? 1 : 0)
            .number("rc_odp_caps", NativeConstants.mask(paging.reliableConnection()))
            .number("uc_odp_caps", NativeConstants.mask(paging.unreliableConnection()))
            .number("ud_odp_caps", NativeConstants.mask(paging.unreliableDatagram()))
            .number("xrc_odp_caps", NativeConstants.mask(paging.xrc()))
            .number("completion_timestamp_mask", read.completionTimestampMask())
            .number("hca_core_clock", read.coreClock())
            .number("max_tso", read.segmentationOffload().maxBytes())
            .number("tso_qpts", read.segmentationOffload().queuePairTypes())
            .number("rss_qpts", scaling.queuePairTypes())
            .number("max_rwq_indirection_tables", scaling.maxIndirectionTables())
            .number("max_rwq_indirection_table_size", scaling.maxIndirectionTableSize())
            .number("rx_hash_fields_mask", NativeConstants.mask(scaling.fields()))
            .number("rx_hash_function", NativeConstants.mask(scaling.functions()))
            .number("max_wq_type_rq", read.maxReceiveWorkQueues())
            .number("qp_rate_limit_min", read.packetPacing().minRate())
            .number("qp_rate_limit_max", read.packetPacing().maxRate())
            .number("pacing_qpts", read.packetPacing().queuePairTypes())
            .number("raw_packet_caps", NativeConstants.mask(read.rawPacket()))
            .number("max_rndv_hdr_size", tags.maxRendezvousHeader())
            .number("max_num_tags", tags.maxTags())
            .number("max_ops", tags.maxOperations())
            .number("tm_max_sge", tags.maxSges())
            .number("max_cq_count", read.completionModeration().maxCount())
            .number(
                "max_cq_period",
                (int) read.completionModeration().maxPeriod().dividedBy(MICROSECOND))
            .number("max_dm_size", read.maxDeviceMemory())
            .number("fetch_add", NativeConstants.mask(read.pciAtomic().fetchAndAdd()))
            .number("swap", NativeConstants.mask(read.pciAtomic().swap()))
            .number("compare_swap", NativeConstants.mask(read.pciAtomic().compareAndSwap()))
            .number("phys_port_cnt_ex", read.ports());
    assertThat(reading).hasToString(StandIn.transcriptOfC("read_extended_device"));
    assertThat(read.capabilities())
        .containsExactlyInAnyOrder(
            DeviceCapability.XRC,
            DeviceCapability.RESIZE_SHARED_RECEIVE_QUEUE,
            DeviceCapability.RAW_SCATTER_FCS,
            DeviceCapability.FLUSH_GLOBAL,
            DeviceCapability.FLUSH_PERSISTENT,
            DeviceCapability.ATOMIC_WRITE,
            DeviceCapability.CC_DMA_BOUNCE);
    assertThat(read.basic()).isEqualTo(device.attributes());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void theAttributesOfAPort(int port) {
    PortAttributes read = device.port(port).attributes();
    Reading reading =
        new Reading()
            .line("read_port")
            .number("state", read.state().value())
            .number("max_mtu", read.maxMtu().value())
            .number("active_mtu", read.activeMtu().value())
            .number("gid_tbl_len", read.gidTableLength())
            .number("port_cap_flags", read.capabilityFlags())
            .number("max_msg_sz", read.maxMessageSize())
            .number("bad_pkey_cntr", read.badPartitionKeys())
            .number("qkey_viol_cntr", read.qkeyViolations())
            .number("pkey_tbl_len", read.partitionKeyTableLength())
            .number("lid", read.lid())
            .number("sm_lid", read.subnetManagerLid())
            .number("lmc", read.lidMaskControl())
            .number("max_vl_num", read.maxVirtualLanes())
            .number("sm_sl", read.subnetManagerServiceLevel())
            .number("subnet_timeout", read.subnetTimeout())
            .number("init_type_reply", read.initTypeReply())
            .number("active_width", read.activeWidth())
            .number("active_speed", read.activeSpeed())
            .number("phys_state", read.physicalState())
            .number("link_layer", read.linkLayer().value())
            .number("flags", read.flags())
            .number("port_cap_flags2", read.capabilityFlags2());
    assertThat(reading).hasToString(StandIn.transcriptOfC("read_port", port));
    assertThat(read.capabilities2())
        .containsExactlyInAnyOrder(
            PortCapability2.EXTENDED_INFO,
            PortCapability2.LINK_SPEED_NDR,
            PortCapability2.LINK_SPEED_XDR);
  }

  @Test
  void theTablesOfAPort() {
    Reading reading = new Reading();
    List<GidEntry> entries = device.gidTable();
    assertThat(entries).hasSizeGreaterThan(3);
    for (GidEntry entry : entries.subList(0, 3)) {
      reading
          .line("entry")
          .gid("gid", entry.gid())
          .number("index", entry.index())
          .number("port", entry.port())
          .number("type", entry.type().value())
          .number("ndev_ifindex", entry.networkInterface());
    }
    Optional<GidEntry> single = device.port(2).gidEntry(99);
    short key = (short) device.port(2).partitionKey(97);
    reading
        .line("single")
        .gid("gid", single.orElseThrow().gid())
        .number("index", single.orElseThrow().index())
        .number("port", single.orElseThrow().port())
        .gid("gid", device.port(2).gid(98))
        .bytes("pkey", MemorySegment.ofArray(new byte[] {(byte) (key >> 8), (byte) key}));
    assertThat(reading).hasToString(StandIn.transcriptOfC("read_tables"));
  }

  @Test
  void thePlaceOfAPartitionKey() {
    assertAsInC(
        "find_partition_key",
        () -> assertThat(device.port(2).partitionKeyIndex(0x91a2)).isEqualTo(OptionalInt.of(3)));
  }

  @Test
  void theEthernetAddressOfAPeer() {
    Gid peer = Gid.of("fe80::9");
    assertAsInC("resolve_ethernet", () -> device.port(2).resolve(peer, 3));
    assertThat(device.port(2).resolve(peer, 3))
        .isEqualTo(
            new EthernetDestination(
                EthernetAddress.of("02:03:05:07:0b:0d"), OptionalInt.of(0x123)));
  }

  @Test
  void theClockIsInNanoseconds() {
    assertAsInC("read_clock", device::rawClock);
    assertThat(device.rawClock()).isEqualTo(0x123456 * 1_000_000_000L + 987_654_321);
  }

  @ParameterizedTest
  @EnumSource
  void eachOperationOfTheProviderIsSupported(DeviceOperation operation) {
    assertThat(device.supports(operation)).isTrue();
  }

  @Test
  void anImportedDeviceHasADescriptorOfItsOwn() {
    int descriptor = device.commandFileDescriptor();
    try (RdmaDevice imported = RdmaDevice.importDevice(descriptor)) {
      assertThat(imported.commandFileDescriptor()).isNotEqualTo(descriptor);
      assertThat(imported.info()).isEqualTo(device.info());
    }
  }

  @Test
  void eachAsynchronousEventNamesItsObject() throws Exception {
    CompletionChannel channel = device.createCompletionChannel();
    ProtectionDomain domain = device.allocateProtectionDomain();
    CompletionQueue completions = device.createCompletionQueue(100, channel);
    SharedReceiveQueue shared = domain.createSharedReceiveQueue(4, 1);
    WorkQueue workQueue = domain.createWorkQueue(WorkQueueConfig.of(completions, 4));
    QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(completions));
    for (AsyncEventType type : AsyncEventType.values()) {
      if (type == AsyncEventType.UNKNOWN) {
        continue;
      }
      StandIn.call("raise_async", type.value());
      AsyncEvent event = device.awaitAsyncEvent(Duration.ofSeconds(10)).orElseThrow();
      assertThat(event.type()).isEqualTo(type);
      if (event instanceof AsyncEvent.OfQueuePair of) {
        assertThat(of.queuePair()).containsSame(queuePair);
        assertThat(of.number()).isEqualTo(queuePair.number());
      } else if (event instanceof AsyncEvent.OfCompletionQueue of) {
        assertThat(of.completionQueue()).containsSame(completions);
      } else if (event instanceof AsyncEvent.OfSharedReceiveQueue of) {
        assertThat(of.sharedReceiveQueue()).containsSame(shared);
      } else if (event instanceof AsyncEvent.OfWorkQueue of) {
        assertThat(of.workQueue()).containsSame(workQueue);
      } else if (event instanceof AsyncEvent.OfPort of) {
        assertThat(of.port()).isEqualTo(1);
      }
    }
  }
}
