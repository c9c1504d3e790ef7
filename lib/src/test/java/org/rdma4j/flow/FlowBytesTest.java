package org.rdma4j.flow;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.Command;
import org.rdma4j.bindings.generated.ibv_flow_action_esp_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.verbs.address.EthernetAddress;

/** The bytes of each flow rule are those that C writes. */
final class FlowBytesTest {
  private static final Map<String, String> OF_C = new HashMap<>();
  private static final EthernetAddress NO_ADDRESS = new EthernetAddress(0);
  private static final EthernetAddress ALL = new EthernetAddress(0xffff_ffff_ffffL);

  @BeforeAll
  static void askC(@TempDir Path directory) throws Exception {
    String program = directory.resolve("flows").toString();
    // Otherwise the padding would be undefined.
    String zeroed = "-ftrivial-auto-var-init=zero";
    Command.output("gcc", "-Wall", "-Werror", zeroed, "-o", program, "src/test/c/flows.c");
    Command.output(program)
        .lines()
        .forEach(
            line -> {
              int space = line.indexOf(' ');
              OF_C.put(line.substring(0, space), line.substring(space + 1));
            });
  }

  private static String ofC(String name) {
    return Objects.requireNonNull(OF_C.get(name), name);
  }

  record Case(String name, FlowSpecification specification) {}

  static List<Case> eachSpecification() throws UnknownHostException {
    Inet4Address here = (Inet4Address) InetAddress.getByName("192.0.2.1");
    Inet4Address there = (Inet4Address) InetAddress.getByName("198.51.100.2");
    Inet4Address network = (Inet4Address) InetAddress.getByName("255.255.255.0");
    Inet4Address host = (Inet4Address) InetAddress.getByName("255.255.255.255");
    var addresses = new FlowSpecification.Ipv4.Fields(here, there);
    var bits = new FlowSpecification.Ipv4.Fields(network, host);
    var ipv4 = new FlowSpecification.Ipv4(addresses, bits);
    var ports = new FlowSpecification.Ports(0x1234, 0x5678);
    var portBits = new FlowSpecification.Ports(0xffff, 0xff00);
    return List.of(
        new Case(
            "ethernet",
            new FlowSpecification.Ethernet(
                new FlowSpecification.Ethernet.Fields(
                    EthernetAddress.of("02:01:02:03:04:05"),
                    EthernetAddress.of("02:06:07:08:09:0a"),
                    0x0800,
                    0xe123),
                new FlowSpecification.Ethernet.Fields(ALL, NO_ADDRESS, 0xffff, 0x0fff))),
        new Case("ipv4", ipv4),
        new Case(
            "ipv4_ext",
            new FlowSpecification.ExtendedIpv4(
                new FlowSpecification.ExtendedIpv4.Fields(addresses, 17, 0xb8, 64, 2),
                new FlowSpecification.ExtendedIpv4.Fields(bits, 255, 254, 253, 7))),
        new Case(
            "ipv6",
            new FlowSpecification.Ipv6(
                new FlowSpecification.Ipv6.Fields(
                    ipv6("2001:db8::1"), ipv6("2001:db8::2"), 0x12345, 6, 0xb8, 63),
                new FlowSpecification.Ipv6.Fields(
                    ipv6("ffff:ffff::"),
                    ipv6("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
                    0xfffff,
                    255,
                    254,
                    253))),
        new Case("inner", new FlowSpecification.Inner(ipv4)),
        new Case("tcp", new FlowSpecification.Tcp(ports, portBits)),
        new Case("udp", new FlowSpecification.Udp(ports, portBits)),
        new Case(
            "esp",
            new FlowSpecification.Esp(
                new FlowSpecification.Esp.Fields(0x01020304, 0x05060708),
                new FlowSpecification.Esp.Fields(-1, 0xff))),
        new Case("vxlan", new FlowSpecification.VxlanTunnel(0xabcdef, 0xffffff)),
        new Case(
            "gre",
            new FlowSpecification.Gre(
                new FlowSpecification.Gre.Fields(0x2000, 0x6558, 0x0a0b0c0d),
                new FlowSpecification.Gre.Fields(0xb000, 0xffff, -1))),
        new Case("mpls", new FlowSpecification.Mpls(0x12345678, 0xfffff000)),
        new Case("tag", new FlowSpecification.Tag(0x123456)),
        new Case("drop", new FlowSpecification.Drop()));
  }

  private static Inet6Address ipv6(String text) throws UnknownHostException {
    return (Inet6Address) InetAddress.getByName(text);
  }

  @ParameterizedTest
  @MethodSource("eachSpecification")
  void aRuleWithOneSpecificationMatchesC(Case each) {
    assertThat(hex(FlowRule.of(1, each.specification()))).isEqualTo(ofC(each.name()));
  }

  @Test
  void aSpecificationThatPointsToAnObjectMatchesC() {
    MemorySegment object = MemorySegment.ofAddress(0x1234_5678_9abc_def0L);
    assertThat(pointing(rdma_h.IBV_FLOW_SPEC_ACTION_HANDLE(), object)).isEqualTo(ofC("handle"));
    assertThat(pointing(rdma_h.IBV_FLOW_SPEC_ACTION_COUNT(), object)).isEqualTo(ofC("count"));
  }

  private static String pointing(int type, MemorySegment object) {
    MemorySegment bytes = MemorySegment.ofBuffer(FlowBytes.pointing(type, object).clear());
    return HexFormat.of().formatHex(bytes.toArray(JAVA_BYTE));
  }

  @Test
  void otherFieldsOfARuleMatchC() {
    assertThat(
            hex(
                FlowRule.of(200)
                    .type(FlowRuleType.SNIFFER)
                    .priority(0xfedc)
                    .flags(FlowFlag.DONT_TRAP, FlowFlag.EGRESS)))
        .isEqualTo(ofC("attributes"));
  }

  @Test
  void severalSpecificationsFollowEachOther() {
    var ethernet = new FlowSpecification.Ethernet.Fields(NO_ADDRESS, NO_ADDRESS, 0, 0);
    var ports = new FlowSpecification.Ports(0, 0);
    assertThat(
            hex(
                FlowRule.of(
                    1,
                    new FlowSpecification.Ethernet(ethernet, ethernet),
                    new FlowSpecification.Udp(ports, ports),
                    new FlowSpecification.Tag(9))))
        .isEqualTo(ofC("three"));
  }

  @Test
  void structsOfAnEspActionMatchC() {
    byte[] bytes = new byte[24];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i + 1);
    }
    EspConfig attributes =
        new EspConfig(
            0x01020304,
            5,
            6,
            Set.of(EspFlag.ENCRYPT, EspFlag.TRANSPORT),
            0x1122_3344_5566_7788L,
            new AesGcmKey(bytes, 0x8877_6655_4433_2211L, 7, 16),
            64,
            OptionalInt.of(9));
    assertThat(
            attributes.<List<String>>use(
                esp ->
                    List.of(
                        hex(ibv_flow_action_esp_attr.esp_attr(esp), "esp_action"),
                        hex(ibv_flow_action_esp_attr.keymat_ptr(esp), "key"),
                        hex(ibv_flow_action_esp_attr.replay_ptr(esp), "replay"))))
        .containsExactly(ofC("esp_action"), ofC("key"), ofC("replay"));
    assertThat(
            attributes.<List<Integer>>use(
                esp ->
                    List.of(
                        (int) ibv_flow_action_esp_attr.keymat_len(esp),
                        (int) ibv_flow_action_esp_attr.replay_len(esp),
                        ibv_flow_action_esp_attr.replay_proto(esp),
                        ibv_flow_action_esp_attr.comp_mask(esp),
                        ibv_flow_action_esp_attr.esn(esp))))
        .containsExactly(
            ofC("key").length() / 2,
            ofC("replay").length() / 2,
            rdma_h.IBV_FLOW_ACTION_ESP_REPLAY_BMP(),
            rdma_h.IBV_FLOW_ACTION_ESP_MASK_ESN(),
            9);
  }

  /** Returns the bytes at a pointer, as many as C printed. */
  private static String hex(MemorySegment pointer, String name) {
    return HexFormat.of().formatHex(pointer.reinterpret(ofC(name).length() / 2).toArray(JAVA_BYTE));
  }

  @Test
  void absentPartsOfAnEspActionAreNotWritten() {
    assertThat(
            EspConfig.of(1)
                .<List<Long>>use(
                    esp ->
                        List.of(
                            ibv_flow_action_esp_attr.keymat_ptr(esp).address(),
                            ibv_flow_action_esp_attr.replay_ptr(esp).address(),
                            (long) ibv_flow_action_esp_attr.keymat_len(esp),
                            (long) ibv_flow_action_esp_attr.comp_mask(esp))))
        .containsOnly(0L);
  }

  @Test
  void aKeyIsNotPrinted() {
    byte[] bytes = new byte[16];
    bytes[0] = 0x5a;
    EspConfig attributes = EspConfig.of(1).key(new AesGcmKey(bytes, 1, 2, 16));
    assertThat(attributes.toString()).contains("key of 16 bytes").doesNotContain("5a", "90");
    assertThatThrownBy(() -> new AesGcmKey(new byte[15], 1, 2, 16))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("15 bytes");
  }

  @Test
  void valuesThatDoNotFitTheirFieldAreRefused() {
    assertThatThrownBy(() -> FlowRule.of(0)).hasMessageContaining("port is 0");
    assertThatThrownBy(() -> FlowRule.of(1).priority(0x10000))
        .hasMessageContaining("priority is 65536");
    assertThatThrownBy(() -> new FlowSpecification.Ports(0, -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("source is -1");
    assertThatThrownBy(
            () ->
                new FlowRule(
                    FlowRuleType.NORMAL,
                    1,
                    0,
                    Set.of(),
                    Collections.nCopies(256, new FlowSpecification.Drop())))
        .hasMessageContaining("number of specifications is 256");
  }

  private static String hex(FlowRule rule) {
    try (Arena arena = Arena.ofConfined()) {
      return HexFormat.of().formatHex(FlowBytes.of(rule, arena).toArray(JAVA_BYTE));
    }
  }
}
