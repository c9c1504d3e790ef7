package org.rdma4j.flow;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.nio.ByteBuffer;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.address.EthernetAddress;

/**
 * A part of a flow rule, {@code struct ibv_flow_spec}: what a header of the packets must match, or
 * what is done with the packets. A header matches if it equals the value in all bits that are set
 * in the mask. Numbers are ordinary Java numbers; C has them in network byte order.
 *
 * @see FlowRule
 */
public sealed interface FlowSpecification {
  /** What a header of the packets must match. */
  sealed interface Header extends FlowSpecification {}

  /**
   * The header of the packet within a tunnel, {@code IBV_FLOW_SPEC_INNER}.
   *
   * @param header what the inner header must match
   */
  record Inner(Header header) implements FlowSpecification {}

  /**
   * A header of Ethernet, {@code IBV_FLOW_SPEC_ETH}.
   *
   * @param value the value that the header must have
   * @param mask the bits that are compared
   */
  record Ethernet(Ethernet.Fields value, Ethernet.Fields mask) implements Header {
    /**
     * The fields, {@code struct ibv_flow_eth_filter}.
     *
     * @param destination the destination address
     * @param source the source address
     * @param etherType the type of the payload, 0 to 0xffff
     * @param vlanTag the tag of IEEE 802.1Q: priority, CFI and VLAN, 0 to 0xffff
     */
    public record Fields(
        EthernetAddress destination, EthernetAddress source, int etherType, int vlanTag) {
      /**
       * Checks the ranges.
       *
       * @throws IllegalArgumentException if a number is out of its range
       */
      public Fields {
        Range.check("etherType", etherType, 0, 0xffff);
        Range.check("vlanTag", vlanTag, 0, 0xffff);
      }

      void write(ByteBuffer to) {
        for (long address : new long[] {destination.value(), source.value()}) {
          to.putShort((short) (address >>> Integer.SIZE)).putInt((int) address);
        }
        to.putShort((short) etherType).putShort((short) vlanTag);
      }
    }
  }

  /**
   * A header of IPv4, {@code IBV_FLOW_SPEC_IPV4}.
   *
   * @param value the value that the header must have
   * @param mask the bits that are compared
   */
  record Ipv4(Ipv4.Fields value, Ipv4.Fields mask) implements Header {
    /**
     * The fields, {@code struct ibv_flow_ipv4_filter}.
     *
     * @param source the source address
     * @param destination the destination address
     */
    public record Fields(Inet4Address source, Inet4Address destination) {
      void write(ByteBuffer to) {
        to.put(source.getAddress()).put(destination.getAddress());
      }
    }
  }

  /**
   * A header of IPv4 with more fields, {@code IBV_FLOW_SPEC_IPV4_EXT}.
   *
   * @param value the value that the header must have
   * @param mask the bits that are compared
   */
  record ExtendedIpv4(ExtendedIpv4.Fields value, ExtendedIpv4.Fields mask) implements Header {
    /**
     * The fields, {@code struct ibv_flow_ipv4_ext_filter}.
     *
     * @param addresses the source and the destination address
     * @param protocol the protocol of the payload, 0 to 255
     * @param typeOfService the type of service, 0 to 255
     * @param timeToLive the time to live, 0 to 255
     * @param flags the flags, 0 to 255
     */
    public record Fields(
        Ipv4.Fields addresses, int protocol, int typeOfService, int timeToLive, int flags) {
      /**
       * Checks the ranges.
       *
       * @throws IllegalArgumentException if a number is out of its range
       */
      public Fields {
        Range.check("protocol", protocol, 0, 0xff);
        Range.check("typeOfService", typeOfService, 0, 0xff);
        Range.check("timeToLive", timeToLive, 0, 0xff);
        Range.check("flags", flags, 0, 0xff);
      }

      void write(ByteBuffer to) {
        addresses.write(to);
        to.put((byte) protocol).put((byte) typeOfService).put((byte) timeToLive).put((byte) flags);
      }
    }
  }

  /**
   * A header of IPv6, {@code IBV_FLOW_SPEC_IPV6}.
   *
   * @param value the value that the header must have
   * @param mask the bits that are compared
   */
  record Ipv6(Ipv6.Fields value, Ipv6.Fields mask) implements Header {
    /**
     * The fields, {@code struct ibv_flow_ipv6_filter}.
     *
     * @param source the source address
     * @param destination the destination address
     * @param flowLabel the flow label, 0 to 0xfffff
     * @param nextHeader the type of the next header, 0 to 255
     * @param trafficClass the traffic class, 0 to 255
     * @param hopLimit the hop limit, 0 to 255
     */
    public record Fields(
        Inet6Address source,
        Inet6Address destination,
        int flowLabel,
        int nextHeader,
        int trafficClass,
        int hopLimit) {
      /**
       * Checks the ranges.
       *
       * @throws IllegalArgumentException if a number is out of its range
       */
      public Fields {
        Range.check("flowLabel", flowLabel, 0, 0xf_ffff);
        Range.check("nextHeader", nextHeader, 0, 0xff);
        Range.check("trafficClass", trafficClass, 0, 0xff);
        Range.check("hopLimit", hopLimit, 0, 0xff);
      }

      void write(ByteBuffer to) {
        to.put(source.getAddress()).put(destination.getAddress()).putInt(flowLabel);
        to.put((byte) nextHeader).put((byte) trafficClass).put((byte) hopLimit);
      }
    }
  }

  /**
   * The ports of TCP or UDP, {@code struct ibv_flow_tcp_udp_filter}.
   *
   * @param destination the destination port, 0 to 65535
   * @param source the source port, 0 to 65535
   */
  record Ports(int destination, int source) {
    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is out of its range
     */
    public Ports {
      Range.check("destination", destination, 0, 0xffff);
      Range.check("source", source, 0, 0xffff);
    }

    void write(ByteBuffer to) {
      to.putShort((short) destination).putShort((short) source);
    }
  }

  /**
   * A header of TCP, {@code IBV_FLOW_SPEC_TCP}.
   *
   * @param value the value that the header must have
   * @param mask the bits that are compared
   */
  record Tcp(Ports value, Ports mask) implements Header {}

  /**
   * A header of UDP, {@code IBV_FLOW_SPEC_UDP}.
   *
   * @param value the value that the header must have
   * @param mask the bits that are compared
   */
  record Udp(Ports value, Ports mask) implements Header {}

  /**
   * A header of ESP, {@code IBV_FLOW_SPEC_ESP}.
   *
   * @param value the value that the header must have
   * @param mask the bits that are compared
   */
  record Esp(Esp.Fields value, Esp.Fields mask) implements Header {
    /**
     * The fields, {@code struct ibv_flow_esp_filter}.
     *
     * @param securityParametersIndex the SPI, 32 bits
     * @param sequenceNumber the sequence number, 32 bits
     */
    public record Fields(int securityParametersIndex, int sequenceNumber) {
      void write(ByteBuffer to) {
        to.putInt(securityParametersIndex).putInt(sequenceNumber);
      }
    }
  }

  /**
   * A header of VXLAN, {@code IBV_FLOW_SPEC_VXLAN_TUNNEL}.
   *
   * @param value the tunnel ID that the header must have, 32 bits
   * @param mask the bits that are compared
   */
  record VxlanTunnel(int value, int mask) implements Header {}

  /**
   * A header of GRE, {@code IBV_FLOW_SPEC_GRE}.
   *
   * @param value the value that the header must have
   * @param mask the bits that are compared
   */
  record Gre(Gre.Fields value, Gre.Fields mask) implements Header {
    /**
     * The fields, {@code struct ibv_flow_gre_filter}.
     *
     * @param flagsAndVersion the first 16 bits of the header: the flags that say which fields are
     *     present, and the version; 0 to 0xffff
     * @param protocol the protocol of the payload, 0 to 0xffff
     * @param key the key, 32 bits
     */
    public record Fields(int flagsAndVersion, int protocol, int key) {
      /**
       * Checks the ranges.
       *
       * @throws IllegalArgumentException if a number is out of its range
       */
      public Fields {
        Range.check("flagsAndVersion", flagsAndVersion, 0, 0xffff);
        Range.check("protocol", protocol, 0, 0xffff);
      }

      void write(ByteBuffer to) {
        to.putShort((short) flagsAndVersion).putShort((short) protocol).putInt(key);
      }
    }
  }

  /**
   * A header of MPLS, {@code IBV_FLOW_SPEC_MPLS}.
   *
   * @param value the label, traffic class, bottom of stack and time to live that the header must
   *     have, as the 32 bits of the header
   * @param mask the bits that are compared
   */
  record Mpls(int value, int mask) implements Header {}

  /**
   * Adds a tag to the completions of the packets, {@code IBV_FLOW_SPEC_ACTION_TAG}. {@link
   * Completions#flowTag} returns it.
   *
   * @param tag the tag
   */
  record Tag(int tag) implements FlowSpecification {}

  /** Drops the packets, {@code IBV_FLOW_SPEC_ACTION_DROP}. */
  record Drop() implements FlowSpecification {}

  /**
   * Encrypts or decrypts the packets, {@code IBV_FLOW_SPEC_ACTION_HANDLE}.
   *
   * @param action how to encrypt or decrypt
   */
  record Encryption(FlowAction action) implements FlowSpecification {}

  /**
   * Counts the packets, {@code IBV_FLOW_SPEC_ACTION_COUNT}.
   *
   * @param counters the counters; {@link Counters#attach} says what they count
   */
  record Count(Counters counters) implements FlowSpecification {}
}
