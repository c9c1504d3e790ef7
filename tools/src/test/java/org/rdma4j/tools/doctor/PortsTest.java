package org.rdma4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.tools.doctor.FindingAssertions.assertOnly;
import static org.rdma4j.tools.doctor.FindingAssertions.assertOnlyFixed;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.tools.doctor.Finding.Level;

class PortsTest {
  private static final String LINK_LOCAL = "fe80:0000:0000:0000:0202:c9ff:fe12:34ab";
  private static final String IPV4 = "0000:0000:0000:0000:0000:ffff:c000:0201";
  private static final String OTHER_IPV4 = "0000:0000:0000:0000:0000:ffff:c633:6401";
  private static final String IPV6 = "2001:0db8:0000:0000:0000:0000:0000:0001";
  private static final String NONE = "0000:0000:0000:0000:0000:0000:0000:0000";
  private static final String V1 = "IB/RoCE v1";
  private static final String V2 = "RoCE v2";

  @TempDir Path root;
  private MachineFiles files;

  @BeforeEach
  void makeInterfaces() throws Exception {
    files =
        new MachineFiles(root)
            .user(1000)
            .networkInterface("eth0", "0x1003")
            .networkInterface("eth1", "0x1002");
  }

  @Test
  void activePortIsShownWithItsInterfaceAndItsGid() throws Exception {
    files.softRoce("eth0", "4: ACTIVE").gid(0, IPV4, V2, "eth0");
    assertThat(check())
        .containsExactly(
            Finding.ok("rxe0 port 1", "ACTIVE, Ethernet, interface eth0 (up, MTU 1500)"),
            Finding.ok(
                "rxe0 port 1",
                "use GID index 0: RoCE v2 with the IPv4 address 192.0.2.1 of eth0, which is up; it"
                    + " works through routers"));
  }

  @Test
  void portOfIwarpDeviceNeedsNoGid() throws Exception {
    files.softRoce("eth0", "4: ACTIVE").iwarp();
    assertThat(check())
        .containsExactly(
            Finding.ok("rxe0 port 1", "ACTIVE, Ethernet, interface eth0 (up, MTU 1500)"));
  }

  @Test
  void interfaceOfPortThatIsDownIsToBeBroughtUp() throws Exception {
    files.softRoce("eth1", "1: DOWN");
    assertOnlyFixed(
        "sudo ip link set eth1 up", check(), Level.PROBLEM, "DOWN, Ethernet, interface eth1 (down");
  }

  @Test
  void portThatIsDownAlthoughItsInterfaceIsUpHasNoCable() throws Exception {
    files.softRoce("eth0", "1: DOWN");
    assertOnlyFixed(
        "connect the cable, then look at: ethtool eth0", check(), Level.PROBLEM, "eth0 (up");
  }

  @ParameterizedTest
  @CsvSource({
    "2: INIT, start a subnet manager on one machine of the fabric: sudo systemctl start opensm",
    "1: DOWN, 'connect the cable, then look at: ibstat mlx5_0'",
  })
  void infinibandPortNeedsACableAndASubnetManager(String state, String fix) throws Exception {
    infiniband(state);
    assertOnlyFixed(fix, check(), Level.PROBLEM, state.substring(3), "InfiniBand");
  }

  @Test
  void activeInfinibandPortNeedsNoGid() throws Exception {
    infiniband("4: ACTIVE");
    assertOnly(check(), Level.OK, "InfiniBand", "LID");
  }

  @Test
  void interfaceOfAnAdapterIsThatOfThePort() throws Exception {
    String device = "/sys/class/infiniband/mlx4_0";
    for (int port : List.of(1, 2)) {
      files
          .file(device + "/ports/%d/state".formatted(port), "1: DOWN")
          .file(device + "/ports/%d/link_layer".formatted(port), "Ethernet");
    }
    files
        .file(device + "/device/net/eth0/dev_port", "1")
        .file(device + "/device/net/eth1/dev_port", "0");
    assertThat(check())
        .extracting(Finding::text)
        .containsExactly(
            "DOWN, Ethernet, interface eth1 (down, MTU 1500)",
            "DOWN, Ethernet, interface eth0 (up, MTU 1500)");
  }

  @Test
  void ipv4OfAnInterfaceThatIsUpIsPreferred() throws Exception {
    files
        .softRoce("eth0", "4: ACTIVE")
        .gid(0, LINK_LOCAL, V1, "eth0")
        .gid(1, LINK_LOCAL, V2, "eth0")
        .gid(2, OTHER_IPV4, V2, "eth1")
        .gid(3, IPV6, V2, "eth0")
        .gid(4, IPV4, V1, "eth0")
        .gid(10, IPV4, V2, "eth0")
        .gid(11, NONE, "", "");
    assertOnly(gid(), Level.OK, "use GID index 10: ", "IPv4 address 192.0.2.1 of eth0");
  }

  @Test
  void globalIpv6IsSecond() throws Exception {
    files
        .softRoce("eth0", "4: ACTIVE")
        .gid(0, LINK_LOCAL, V2, "eth0")
        .gid(1, IPV6, V2, "eth0")
        .gid(2, IPV4, V1, "eth0");
    assertOnly(gid(), Level.OK, "use GID index 1: ", "IPv6 address 2001:db8::1");
  }

  @Test
  void linkLocalAloneIsAWarning() throws Exception {
    files
        .softRoce("eth0", "4: ACTIVE")
        .gid(0, LINK_LOCAL, V1, "eth0")
        .gid(1, LINK_LOCAL, V2, "eth0");
    assertOnlyFixed(
        "sudo ip address add ADDRESS/24 dev eth0",
        gid(),
        Level.WARNING,
        "use GID index 1: ",
        "link-local");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0000:0000:0000:0000:0000:ffff:7f00:0001",
        "0000:0000:0000:0000:0000:0000:0000:0001"
      })
  void loopbackAddressAloneIsAWarning(String gid) throws Exception {
    files.networkInterface("lo", "0x9").softRoce("lo", "4: ACTIVE").gid(1, gid, V2, "lo");
    assertOnlyFixed(
        "sudo ip address add ADDRESS/24 dev lo", gid(), Level.WARNING, "reaches only this machine");
  }

  @Test
  void version1AloneIsAWarning() throws Exception {
    files.softRoce("eth0", "4: ACTIVE").gid(0, IPV4, V1, "eth0");
    assertOnlyFixed(
        "sudo ip address add ADDRESS/24 dev eth0", gid(), Level.WARNING, "RoCE v1 with 192.0.2.1");
  }

  @Test
  void gidsOfInterfacesThatAreDownAreNoChoice() throws Exception {
    files.softRoce("eth0", "4: ACTIVE").gid(0, IPV4, V2, "eth1");
    assertOnlyFixed(
        "sudo ip address add ADDRESS/24 dev eth0", gid(), Level.PROBLEM, "no GID belongs to");
  }

  @Test
  void softRoceOverLoopbackIsAWarning() throws Exception {
    files
        .networkInterface("lo", "0x9")
        .softRoce("lo", "4: ACTIVE")
        .gid(1, "0000:0000:0000:0000:0000:ffff:7f00:0001", V2, "lo");
    assertThat(check())
        .anySatisfy(
            finding -> {
              assertThat(finding.level()).isEqualTo(Level.WARNING);
              assertThat(finding.text()).contains("rdma_resolve_route");
              assertThat(finding.fix()).contains("sudo ip link add rdma0 type dummy");
            });
  }

  private void infiniband(String state) throws Exception {
    String device = "/sys/class/infiniband/mlx5_0";
    files
        .directory(device + "/device")
        .file(device + "/ports/1/state", state)
        .file(device + "/ports/1/link_layer", "InfiniBand");
  }

  private List<Finding> check() {
    return Ports.check(files.machine(), KernelDevice.all(files.machine()));
  }

  private List<Finding> gid() {
    return check().stream().filter(finding -> finding.text().contains("GID")).toList();
  }
}
