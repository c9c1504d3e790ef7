package org.rdma4j.tools.perftest;

import java.util.Comparator;
import java.util.List;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.GidText;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GidType;
import org.rdma4j.verbs.attribute.LinkLayer;
import org.rdma4j.verbs.attribute.PortAttributes;
import org.rdma4j.verbs.attribute.PortState;

/**
 * The port of the device that a test uses.
 *
 * @param device the device
 * @param number the number of the port, from 1
 * @param gidIndex the index of the GID, or {@link PathConfig#NO_GID}
 * @param attributes the port as it is now
 */
record LocalPort(RdmaDevice device, int number, int gidIndex, PortAttributes attributes) {
  private static final String MAPPED_IPV4 = "::ffff:";

  /**
   * Chooses the GID, if none is given: on Ethernet one of IPv4, for RoCE v2.
   *
   * @param device the device
   * @param number the number of the port
   * @param gidIndex the given index, or {@link PathConfig#NO_GID}
   * @param ipv6 whether to choose a GID of IPv6
   */
  static LocalPort of(RdmaDevice device, int number, int gidIndex, boolean ipv6) {
    String name = device.info().name();
    int ports = device.attributes().ports();
    if (number > ports) {
      throw new Failure(
          "-i is %d, must be from 1 to %d, the number of ports of %s"
              .formatted(number, ports, name));
    }
    PortAttributes attributes = device.port(number).attributes();
    if (attributes.state() != PortState.ACTIVE && attributes.state() != PortState.ACTIVE_DEFER) {
      throw new Failure(
          "port %d of %s is in state %s, must be ACTIVE; check its cable or its network interface"
              .formatted(number, name, attributes.state()));
    }
    if (gidIndex != PathConfig.NO_GID
        && (gidIndex >= attributes.gidTableLength()
            || device.port(number).gid(gidIndex).isZero())) {
      throw new Failure(
          "-x is %d, but port %d of %s has no GID at that index; give one of these indices: %s"
              .formatted(gidIndex, number, name, GidText.table(device, number)));
    }
    boolean choose = gidIndex == PathConfig.NO_GID && attributes.linkLayer() == LinkLayer.ETHERNET;
    return new LocalPort(
        device, number, choose ? best(device, number, ipv6) : gidIndex, attributes);
  }

  private static int best(RdmaDevice device, int number, boolean ipv6) {
    List<GidEntry> gids = device.port(number).gids();
    return gids.stream()
        .min(
            Comparator.comparing((GidEntry entry) -> isIpv4(entry) == ipv6)
                .thenComparing(entry -> entry.type() != GidType.ROCE_V2)
                .thenComparing(GidEntry::index))
        .map(GidEntry::index)
        .orElseThrow(
            () ->
                new Failure(
                    "port %d of %s has no GID; give its network interface an IP address"
                        .formatted(number, device.info().name())));
  }

  private static boolean isIpv4(GidEntry entry) {
    return entry.gid().toString().startsWith(MAPPED_IPV4);
  }

  boolean hasGid() {
    return gidIndex != PathConfig.NO_GID;
  }

  boolean isEthernet() {
    return attributes.linkLayer() == LinkLayer.ETHERNET;
  }
}
