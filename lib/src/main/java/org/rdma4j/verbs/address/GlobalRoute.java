package org.rdma4j.verbs.address;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_global_route;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.platform.Range;

/**
 * The contents of the global routing header of packets, which on RoCE v2 is the IP header: {@code
 * struct ibv_global_route}.
 *
 * @param destination the GID of the destination
 * @param gidIndex the index of the local GID, the source of the packets, 0 to 255
 * @param flowLabel the flow label, 0 to 0xfffff
 * @param hopLimit the number of routers that a packet may pass, 0 to 255
 * @param trafficClass the traffic class, 0 to 255
 * @see AddressVector
 * @see GlobalRoutingHeader
 */
public record GlobalRoute(
    Gid destination, int gidIndex, int flowLabel, int hopLimit, int trafficClass) {
  /**
   * Creates a route from its parts.
   *
   * @throws IllegalArgumentException if a number is out of its range
   */
  public GlobalRoute {
    Range.check("gidIndex", gidIndex, 0, 0xff);
    Range.check("flowLabel", flowLabel, 0, 0xf_ffff);
    Range.check("hopLimit", hopLimit, 0, 0xff);
    Range.check("trafficClass", trafficClass, 0, 0xff);
  }

  /**
   * Returns the source UDP port of RoCE v2 packets. It depends on the flow label, so that routers
   * can spread packets over several paths: {@code ibv_flow_label_to_udp_sport}.
   *
   * @return the port, 0xc000 to 0xffff
   */
  public int udpSourcePort() {
    return Verbs.ibv_flow_label_to_udp_sport(flowLabel);
  }

  static GlobalRoute read(MemorySegment route) {
    return new GlobalRoute(
        Gid.read(ibv_global_route.dgid(route)),
        Byte.toUnsignedInt(ibv_global_route.sgid_index(route)),
        ibv_global_route.flow_label(route) & 0xf_ffff,
        Byte.toUnsignedInt(ibv_global_route.hop_limit(route)),
        Byte.toUnsignedInt(ibv_global_route.traffic_class(route)));
  }

  void write(MemorySegment route) {
    destination.write(ibv_global_route.dgid(route));
    ibv_global_route.flow_label(route, flowLabel);
    ibv_global_route.sgid_index(route, (byte) gidIndex);
    ibv_global_route.hop_limit(route, (byte) hopLimit);
    ibv_global_route.traffic_class(route, (byte) trafficClass);
  }
}
