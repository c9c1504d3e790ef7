package org.rdma4j.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rdma4j.StandIn.assertAsInC;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rdma4j.StandIn;
import org.rdma4j.verbs.CompletionQueueConfig;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.EthernetAddress;

/** Flow rules, actions and counters reach the provider byte by byte as in C. */
@Tag(StandIn.TAG)
final class FlowBytesTest {
  private static final EthernetAddress NO_ADDRESS = new EthernetAddress(0);
  private static final EthernetAddress ALL = new EthernetAddress(0xffff_ffff_ffffL);

  private final RdmaDevice device = StandIn.open();
  private final QueuePair queuePair =
      device
          .allocateProtectionDomain()
          .createQueuePair(
              QueuePairConfig.rawPackets(
                  device.createCompletionQueue(CompletionQueueConfig.of(8))));

  @AfterEach
  void close() {
    device.close();
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
    assertAsInC(
        "rule_" + each.name(), () -> Flow.create(queuePair, FlowRule.of(1, each.specification())));
  }

  @Test
  void aSpecificationThatPointsToAnObjectMatchesC() {
    FlowAction action = FlowAction.create(device, encryption());
    assertAsInC(
        "rule_encryption",
        () -> Flow.create(queuePair, FlowRule.of(1, new FlowSpecification.Encryption(action))));
    Counters counters = Counters.create(device);
    assertAsInC(
        "rule_count",
        () -> Flow.create(queuePair, FlowRule.of(1, new FlowSpecification.Count(counters))));
  }

  @Test
  void otherFieldsOfARuleMatchC() {
    assertAsInC(
        "rule_of_attributes",
        () ->
            Flow.create(
                queuePair,
                FlowRule.of(2)
                    .type(FlowRuleType.SNIFFER)
                    .priority(0xfedc)
                    .flags(FlowFlag.DONT_TRAP, FlowFlag.EGRESS)));
  }

  @Test
  void severalSpecificationsFollowEachOther() {
    var ethernet = new FlowSpecification.Ethernet.Fields(NO_ADDRESS, NO_ADDRESS, 0, 0);
    var ports = new FlowSpecification.Ports(0, 0);
    FlowRule rule =
        FlowRule.of(
            1,
            new FlowSpecification.Ethernet(ethernet, ethernet),
            new FlowSpecification.Udp(ports, ports),
            new FlowSpecification.Tag(9));
    assertAsInC("rule_of_three", () -> Flow.create(queuePair, rule));
    assertAsInC("destroy_the_flow", Flow.create(queuePair, rule)::close);
  }

  private static EspConfig encryption() {
    byte[] bytes = new byte[24];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i + 1);
    }
    return new EspConfig(
        0x01020304,
        5,
        6,
        Set.of(EspFlag.ENCRYPT, EspFlag.TRANSPORT),
        0x1122_3344_5566_7788L,
        new AesGcmKey(bytes, 0x8877_6655_4433_2211L, 7, 16),
        64,
        OptionalInt.of(9));
  }

  @Test
  void anEspActionMatchesC() {
    assertAsInC("create_an_action", () -> FlowAction.create(device, encryption()));
    FlowAction action = FlowAction.create(device, encryption());
    assertAsInC(
        "change_the_action",
        () -> {
          action.modify(EspConfig.of(1));
          action.close();
        });
  }

  @Test
  void countersMatchC() {
    assertAsInC("create_counters", () -> Counters.create(device));
    Counters counters = Counters.create(device);
    Flow flow = Flow.create(queuePair, FlowRule.of(1));
    assertAsInC(
        "use_the_counters",
        () -> {
          counters.attach(CounterType.BYTES, 0xfedc);
          counters.attach(CounterType.PACKETS, 1, flow);
          assertThat(counters.read(3, true))
              .containsExactly(Long.MIN_VALUE, Long.MIN_VALUE + 1, Long.MIN_VALUE + 2);
          counters.read(1, false);
          counters.close();
        });
  }

  @Test
  void aFlowIsDestroyedBeforeWhatItUses() {
    FlowAction action = FlowAction.create(device, encryption());
    Flow.create(queuePair, FlowRule.of(1, new FlowSpecification.Encryption(action)));
    assertAsInC("destroy_the_flow_and_its_action", action::close);
    Counters counters = Counters.create(device);
    Flow.create(queuePair, FlowRule.of(1, new FlowSpecification.Count(counters)));
    assertAsInC("destroy_the_flow_and_its_counters", counters::close);
    Flow.create(queuePair, FlowRule.of(1));
    assertAsInC("destroy_the_flow_and_its_queue_pair", queuePair::close);
  }

  @Test
  void aRuleMayOnlyNameObjectsOfItsDevice() {
    try (RdmaDevice other = StandIn.open()) {
      FlowRule foreignAction =
          FlowRule.of(1, new FlowSpecification.Encryption(FlowAction.create(other, encryption())));
      assertThatThrownBy(() -> Flow.create(queuePair, foreignAction))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("must belong to");
      FlowRule foreignCounters =
          FlowRule.of(1, new FlowSpecification.Count(Counters.create(other)));
      assertThatThrownBy(() -> Flow.create(queuePair, foreignCounters))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("must belong to");
    }
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
}
