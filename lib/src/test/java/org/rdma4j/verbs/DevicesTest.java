package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.RdmaException;
import org.rdma4j.testing.Command;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.address.EthernetAddress;
import org.rdma4j.verbs.address.EthernetDestination;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GidType;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.LinkLayer;
import org.rdma4j.verbs.attribute.NodeType;
import org.rdma4j.verbs.attribute.PortAttributes;
import org.rdma4j.verbs.attribute.PortState;
import org.rdma4j.verbs.attribute.TransportType;

/** The attributes of a device are what sysfs and ibv_devinfo show. */
@Tag("device")
final class DevicesTest {
  /** The last index that a path can use. The table of soft-RoCE has 1024 entries. */
  private static final int EMPTY_GID = 200;

  private RdmaDevice device;

  @BeforeEach
  void open() {
    device = Loopback.openDevice();
  }

  @AfterEach
  void close() {
    device.close();
  }

  @Test
  void theListNamesTheDevicesOfSysfs() throws IOException {
    try (var entries = Files.list(Path.of("/sys/class/infiniband"))) {
      List<String> names = entries.map(entry -> entry.getFileName().toString()).toList();
      assertThat(RdmaDevice.list())
          .extracting(DeviceInfo::name)
          .containsExactlyInAnyOrderElementsOf(names);
    }
  }

  @Test
  void theListContainsGuidAndKind() throws IOException {
    DeviceInfo info = RdmaDevice.list().getFirst();
    assertThat(info).isEqualTo(device.info());
    assertThat(info.guid().toString()).isEqualTo(sysfs("node_guid"));
    boolean iwarp = sysfs("node_type").equals("4: RNIC");
    assertThat(info.nodeType()).isEqualTo(iwarp ? NodeType.RNIC : NodeType.CHANNEL_ADAPTER);
    assertThat(info.transport()).isEqualTo(iwarp ? TransportType.IWARP : TransportType.INFINIBAND);
    assertThat(info.systemPath()).isEqualTo("/sys/class/infiniband/" + info.name());
  }

  @Tag("kernel")
  @Test
  void theIndexIsThatOfTheKernel() throws Exception {
    DeviceInfo info = device.info();
    assertThat(Command.output("rdma", "dev", "show", info.name()))
        .startsWith(info.index() + ": " + info.name() + ":");
  }

  @Test
  void aGidWithoutARouteHasNoEthernetDestination() {
    Gid nowhere = Gid.ofHex("20010db8000000000000000000000001");
    assertThatThrownBy(() -> device.port(1).resolve(nowhere, Loopback.gidIndex(device)))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("ibv_resolve_eth_l2_from_gid(2001:db8::1)");
  }

  /** The network interface of soft-RoCE does not ask neighbours, but sends everything to itself. */
  @Tag("needs-soft-roce")
  @Test
  void theGidOfANeighbourHasAnEthernetDestination() throws IOException {
    GidEntry own = device.port(1).gidEntry(Loopback.gidIndex(device)).orElseThrow();
    Gid neighbour = new Gid(own.gid().subnetPrefix(), own.gid().interfaceId() ^ (1 << 7));
    byte[] hardware = NetworkInterface.getByIndex(own.networkInterface()).getHardwareAddress();
    assertThat(device.port(1).resolve(neighbour, own.index()))
        .isEqualTo(
            new EthernetDestination(
                EthernetAddress.of(HexFormat.ofDelimiter(":").formatHex(hardware)),
                OptionalInt.empty()));
  }

  @Test
  void openingAnUnknownNameListsTheDevices() {
    assertThatThrownBy(() -> RdmaDevice.open("mlx5_77"))
        .isInstanceOf(RdmaException.class)
        .hasMessageContaining("ibv_open_device(mlx5_77) failed: ENODEV")
        .hasMessageContaining("On this machine there are ")
        .hasMessageContaining(device.info().name());
  }

  @Test
  void theSystemPropertyOrElseTheKindOfTheDeviceSaysHowPostsCallC() {
    boolean adapter = Files.exists(Path.of(device.info().systemPath(), "device", "driver"));
    String calls = System.getProperty("org.rdma4j.calls", adapter ? "critical" : "plain");
    assertThat(device.callsCritically()).isEqualTo(calls.equals("critical"));
    assertThat(device).hasToString("device " + device.info().name() + ", " + calls + " calls");
  }

  @Test
  void theAttributesAreThoseOfDevinfo() throws Exception {
    String devinfo = Command.output("ibv_devinfo", "-v", "-d", device.info().name());
    DeviceAttributes attributes = device.attributes();

    assertThat(devinfo)
        .containsPattern("fw_ver:\\s+" + attributes.firmwareVersion())
        .containsPattern("node_guid:\\s+" + attributes.nodeGuid())
        .containsPattern("sys_image_guid:\\s+" + attributes.systemImageGuid())
        .containsPattern("max_mr_size:\\s+0x" + Long.toHexString(attributes.maxMemoryRegionSize()))
        .containsPattern(
            "page_size_cap:\\s+0x" + Long.toHexString(attributes.pageSizeCapabilities()))
        .containsPattern("vendor_id:\\s+0x%04x".formatted(attributes.vendorId()))
        .containsPattern("vendor_part_id:\\s+" + attributes.vendorPartId())
        .containsPattern("hw_ver:\\s+0x%X".formatted(attributes.hardwareVersion()))
        .containsPattern("max_qp:\\s+" + attributes.maxQueuePairs() + "\n")
        .containsPattern("max_qp_wr:\\s+" + attributes.maxWorkRequests() + "\n")
        .containsPattern("device_cap_flags:\\s+0x%08x".formatted(attributes.capabilityFlags()))
        .containsPattern("max_sge:\\s+" + attributes.maxSges() + "\n")
        .containsPattern("max_sge_rd:\\s+" + attributes.maxReadSges() + "\n")
        .containsPattern("max_cq:\\s+" + attributes.maxCompletionQueues() + "\n")
        .containsPattern("max_cqe:\\s+" + attributes.maxCompletionQueueEntries() + "\n")
        .containsPattern("max_mr:\\s+" + attributes.maxMemoryRegions() + "\n")
        .containsPattern("max_pd:\\s+" + attributes.maxProtectionDomains() + "\n")
        .containsPattern("max_qp_rd_atom:\\s+" + attributes.maxRemoteReads() + "\n")
        .containsPattern("max_res_rd_atom:\\s+" + attributes.maxTotalRemoteReads() + "\n")
        .containsPattern("max_qp_init_rd_atom:\\s+" + attributes.maxReads() + "\n")
        .containsPattern("max_mw:\\s+" + attributes.maxMemoryWindows() + "\n")
        .containsPattern("max_mcast_grp:\\s+" + attributes.maxMulticastGroups() + "\n")
        .containsPattern(
            "max_mcast_qp_attach:\\s+" + attributes.maxMulticastQueuePairsPerGroup() + "\n")
        .containsPattern(
            "max_total_mcast_qp_attach:\\s+" + attributes.maxMulticastQueuePairs() + "\n")
        .containsPattern("max_ah:\\s+" + attributes.maxAddressHandles() + "\n")
        .containsPattern("max_srq:\\s+" + attributes.maxSharedReceiveQueues() + "\n")
        .containsPattern("max_srq_wr:\\s+" + attributes.maxSharedReceiveQueueRequests() + "\n")
        .containsPattern("max_srq_sge:\\s+" + attributes.maxSharedReceiveQueueSges() + "\n")
        .containsPattern("max_pkeys:\\s+" + attributes.maxPartitionKeys() + "\n")
        .containsPattern("local_ca_ack_delay:\\s+" + attributes.localAckDelay() + "\n")
        .containsPattern("phys_port_cnt:\\s+" + attributes.ports() + "\n");
  }

  @Test
  void thePortIsThatOfDevinfo() throws Exception {
    String devinfo = Command.output("ibv_devinfo", "-v", "-d", device.info().name());
    PortAttributes port = device.port(1).attributes();

    assertThat(port.state()).isEqualTo(PortState.ACTIVE);
    assertThat(port.linkLayer()).isEqualTo(LinkLayer.ETHERNET);
    assertThat(devinfo)
        .containsPattern("max_mtu:\\s+" + port.maxMtu().bytes())
        .containsPattern("active_mtu:\\s+" + port.activeMtu().bytes())
        .containsPattern("sm_lid:\\s+" + port.subnetManagerLid())
        .containsPattern("port_lid:\\s+" + port.lid())
        .containsPattern("port_lmc:\\s+0x%02x".formatted(port.lidMaskControl()))
        .containsPattern("max_msg_sz:\\s+0x" + Long.toHexString(port.maxMessageSize()))
        .containsPattern("port_cap_flags:\\s+0x%08x".formatted(port.capabilityFlags()))
        .containsPattern("port_cap_flags2:\\s+0x%04x".formatted(port.capabilityFlags2()))
        .containsPattern("qkey_viol_cntr:\\s+0x" + Integer.toHexString(port.qkeyViolations()))
        .containsPattern("bad_pkey_cntr:\\s+0x" + Integer.toHexString(port.badPartitionKeys()))
        .containsPattern("gid_tbl_len:\\s+" + port.gidTableLength())
        .containsPattern("pkey_tbl_len:\\s+" + port.partitionKeyTableLength());
    if (device.info().transport() == TransportType.INFINIBAND) {
      assertThat(devinfo)
          .containsPattern("phys_state:\\s+LINK_UP \\(" + port.physicalState() + "\\)");
    }
  }

  @Tag("needs-ip-gids")
  @Test
  void theGidTableIsThatOfSysfs() throws IOException {
    List<GidEntry> gids = device.port(1).gids();
    assertThat(gids).isNotEmpty();
    for (GidEntry entry : gids) {
      String inSysfs = sysfs("ports/" + entry.port() + "/gids/" + entry.index());
      assertThat(entry.gid().toHex()).isEqualTo(inSysfs.replace(":", ""));
      assertThat(device.port(entry.port()).gid(entry.index())).isEqualTo(entry.gid());
      assertThat(entry.networkInterface()).isPositive();
    }
    assertThat(gids).extracting(GidEntry::type).contains(GidType.ROCE_V2);
  }

  @Tag("needs-ip-gids")
  @Test
  void anEmptyGidEntryIsZero() {
    int last = device.port(1).attributes().gidTableLength() - 1;
    assertThat(device.port(1).gid(last).isZero()).isTrue();
  }

  @Tag("needs-ip-gids")
  @Test
  void anEmptyGidIndexIsRefusedWithTheIndicesInUse() {
    GidEntry used = device.port(1).gids().getFirst();
    String inUse = "%d (%s, ".formatted(used.index(), used.gid());
    try (ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(100);
        QueuePair queuePair = domain.createQueuePair(QueuePairConfig.reliable(queue))) {
      QueuePairAddress address = queuePair.address(1, Loopback.gidIndex(device));
      List<ThrowingCallable> calls =
          List.of(
              () -> queuePair.address(1, EMPTY_GID),
              () -> queuePair.connect(PathConfig.to(address).gidIndex(EMPTY_GID)),
              () -> device.port(1).resolve(address.gid(), EMPTY_GID));
      for (ThrowingCallable call : calls) {
        assertThatThrownBy(call)
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("no GID at index " + EMPTY_GID)
            .hasMessageContaining(inUse);
      }
      assertThatThrownBy(
              () -> domain.createAddressHandle(AddressVector.to(address.gid(), 1, EMPTY_GID)))
          .isInstanceOf(RdmaException.class)
          .hasMessageContaining("gidIndex=" + EMPTY_GID)
          .hasMessageContaining("Port.gids()");
    }
  }

  @Tag("needs-ip-gids")
  @Test
  void theGidOfAnIpv4AddressIsPreferred() {
    Port port = device.port(1);
    GidEntry preferred = port.preferredGid();
    assertThat(preferred.type()).isEqualTo(GidType.ROCE_V2);
    assertThat(preferred.gid().toInetAddress()).isInstanceOf(Inet4Address.class);
    assertThat(port.gids()).contains(preferred);
  }

  @Test
  void thePortsAreThoseOfTheAttributes() {
    assertThat(device.ports()).hasSize(device.attributes().ports());
    assertThat(device.ports().getFirst().number()).isEqualTo(1);
    assertThat(device.ports().getFirst()).hasToString("port 1 of " + device.info().name());
  }

  @Tag("needs-partition-keys")
  @Test
  void thePartitionKeyIsThatOfSysfs() throws IOException {
    assertThat("0x%04x".formatted(device.port(1).partitionKey(0)))
        .isEqualTo(sysfs("ports/1/pkeys/0"));
  }

  @Test
  void indicesAndPortsThatDoNotExistAreRefused() {
    assertThatThrownBy(() -> device.port(0)).hasMessageContaining("port is 0, must be from 1 to");
    assertThatThrownBy(() -> device.port(device.attributes().ports() + 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> device.port(1).gid(device.port(1).attributes().gidTableLength()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("GID index");
    assertThatThrownBy(() -> device.port(1).partitionKey(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("partition key index is -1");
  }

  @Test
  void thereIsACompletionVector() {
    assertThat(device.completionVectors()).isPositive();
  }

  @Test
  void handlesCanBeUsedWithTheBindings() {
    assertThat(device.handle().address()).isNotZero();
    try (ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(1);
        MemoryRegion region = domain.register(1);
        QueuePair queuePair =
            domain.createQueuePair(QueuePairConfig.reliable(queue).ignoreOverrun(true))) {
      assertThat(org.rdma4j.bindings.generated.ibv_pd.context(domain.handle()))
          .isEqualTo(device.handle());
      assertThat(org.rdma4j.bindings.generated.ibv_cq.context(queue.handle()))
          .isEqualTo(device.handle());
      assertThat(org.rdma4j.bindings.generated.ibv_mr.lkey(region.handle()))
          .isEqualTo(region.localKey());
      assertThat(org.rdma4j.bindings.generated.ibv_qp.qp_num(queuePair.handle()))
          .isEqualTo(queuePair.number());
    }
  }

  private String sysfs(String file) throws IOException {
    return Files.readString(Path.of("/sys/class/infiniband", device.info().name(), file)).strip();
  }

  @Test
  void aPartitionKeyOutsideOfTheTableIsRefusedWithItsLength() {
    int keys = device.port(1).attributes().partitionKeyTableLength();
    assertThatThrownBy(() -> device.port(1).partitionKey(keys))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            keys == 0 ? "port 1 has no partition keys" : "must be from 0 to " + (keys - 1));
  }
}
