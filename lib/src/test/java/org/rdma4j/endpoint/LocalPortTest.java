package org.rdma4j.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GidType;
import org.rdma4j.verbs.attribute.Guid;
import org.rdma4j.verbs.attribute.LinkLayer;
import org.rdma4j.verbs.attribute.NodeType;
import org.rdma4j.verbs.attribute.TransportType;

/** The choice of a GID if none is configured. */
final class LocalPortTest {
  private static final GidEntry V1 = entry(0, "fe80000000000000020255fffe000001", GidType.ROCE_V1);
  private static final GidEntry V2 = entry(1, "fe80000000000000020255fffe000001", GidType.ROCE_V2);
  private static final GidEntry V1_IPV4 =
      entry(2, "00000000000000000000ffffc0000201", GidType.ROCE_V1);
  private static final GidEntry V2_IPV4 =
      entry(3, "00000000000000000000ffffc0000201", GidType.ROCE_V2);
  private static final GidEntry V2_OTHER_IPV4 =
      entry(4, "00000000000000000000ffffc0000202", GidType.ROCE_V2);

  @Test
  void onEthernetTheFirstRoceV2GidOfAnIpv4AddressIsChosen() {
    assertThat(
            LocalPort.gidIndex(
                List.of(V1, V2, V1_IPV4, V2_IPV4, V2_OTHER_IPV4), LinkLayer.ETHERNET))
        .hasValue(3);
  }

  @Test
  void withoutAnIpv4AddressAnyRoceV2GidIsChosen() {
    assertThat(LocalPort.gidIndex(List.of(V1, V2, V1_IPV4), LinkLayer.ETHERNET)).hasValue(1);
  }

  @Test
  void withoutRoceV2AnyGidIsChosen() {
    assertThat(LocalPort.gidIndex(List.of(V1), LinkLayer.ETHERNET)).hasValue(0);
    assertThat(LocalPort.gidIndex(List.of(), LinkLayer.ETHERNET)).isEmpty();
  }

  @Test
  void onInfinibandNoGidIsChosen() {
    assertThat(LocalPort.gidIndex(List.of(V1), LinkLayer.INFINIBAND)).hasValue(PathConfig.NO_GID);
  }

  private static GidEntry entry(int index, String gid, GidType type) {
    return new GidEntry(1, index, Gid.ofHex(gid), type, 2);
  }

  @Test
  void devicesOfIwarpAreLeftOutWhateverTheirOrder() {
    DeviceInfo iwarp = device("siw0", NodeType.RNIC, TransportType.IWARP);
    DeviceInfo roce = device("rxe0", NodeType.CHANNEL_ADAPTER, TransportType.INFINIBAND);
    assertThat(LocalPort.usable(List.of(iwarp, roce))).containsExactly(roce);
    assertThat(LocalPort.usable(List.of(iwarp))).isEmpty();
    assertThat(LocalPort.unusable(List.of(iwarp)))
        .hasMessage(
            "looking for an active port failed. An endpoint requires a device of InfiniBand or"
                + " RoCE, and this machine offers siw0 (IWARP): use an RdmaConnection, which"
                + " connects over iWARP too");
  }

  private static DeviceInfo device(String name, NodeType type, TransportType transport) {
    return new DeviceInfo(name, new Guid(1), type, transport, "/sys/" + name, 0);
  }
}
