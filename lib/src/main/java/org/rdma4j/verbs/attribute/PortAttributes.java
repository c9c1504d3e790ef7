package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_port_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeConstants;

/**
 * The attributes of a port: {@code struct ibv_port_attr}, the result of {@code ibv_query_port}.
 *
 * @param state the logical state
 * @param maxMtu the largest MTU that the port supports
 * @param activeMtu the MTU that the port uses
 * @param gidTableLength the length of the GID table
 * @param capabilityFlags a mask of {@code enum ibv_port_cap_flags}
 * @param maxMessageSize the maximum length of a message in bytes
 * @param badPartitionKeys the number of packets with a bad partition key
 * @param qkeyViolations the number of packets with a wrong queue key
 * @param partitionKeyTableLength the length of the partition key table
 * @param lid the local identifier (LID) of the port; 0 on Ethernet
 * @param subnetManagerLid the LID of the subnet manager
 * @param lidMaskControl the number of low bits of the LID that select a path
 * @param maxVirtualLanes a code for the maximum number of virtual lanes
 * @param subnetManagerServiceLevel the service level of packets to the subnet manager
 * @param subnetTimeout the propagation delay of the subnet, as an exponent n of 4.096 microseconds
 *     x 2^n
 * @param initTypeReply how the subnet manager initialized the port
 * @param activeWidth a code for the link width: 1 for 1X, 2 for 4X, 4 for 8X, 8 for 12X, 16 for 2X
 * @param activeSpeed a code for the speed of a lane: 1 for 2.5 Gbit/s, 2 for 5, 4 and 8 for 10, 16
 *     for 14, 32 for 25, 64 for 50, 128 for 100, 256 for 200
 * @param physicalState a code for the physical state: 5 for link up
 * @param linkLayer the link layer
 * @param flags a mask of {@code enum ibv_query_port_flags}
 * @param capabilityFlags2 a mask of {@code enum ibv_port_cap_flags2}
 * @see org.rdma4j.verbs.Port#attributes
 * @see DeviceAttributes
 */
public record PortAttributes(
    PortState state,
    Mtu maxMtu,
    Mtu activeMtu,
    int gidTableLength,
    int capabilityFlags,
    long maxMessageSize,
    int badPartitionKeys,
    int qkeyViolations,
    int partitionKeyTableLength,
    int lid,
    int subnetManagerLid,
    int lidMaskControl,
    int maxVirtualLanes,
    int subnetManagerServiceLevel,
    int subnetTimeout,
    int initTypeReply,
    int activeWidth,
    int activeSpeed,
    int physicalState,
    LinkLayer linkLayer,
    int flags,
    int capabilityFlags2) {
  /**
   * Returns the capabilities that the port reports in {@link #capabilityFlags}.
   *
   * @return the capabilities; bits without a constant are ignored
   */
  public Set<PortCapability> capabilities() {
    return NativeConstants.flags(PortCapability.class, capabilityFlags);
  }

  /**
   * Returns the capabilities that the port reports in {@link #capabilityFlags2}.
   *
   * @return the capabilities; bits without a constant are ignored
   */
  public Set<PortCapability2> capabilities2() {
    return NativeConstants.flags(PortCapability2.class, capabilityFlags2);
  }

  /**
   * Returns whether packets of this port need a global route, as on Ethernet: {@code
   * IBV_QPF_GRH_REQUIRED} of {@link #flags}.
   *
   * @return whether every path needs a GID index
   */
  public boolean globalRouteRequired() {
    return (flags & rdma_h.IBV_QPF_GRH_REQUIRED()) != 0;
  }

  /**
   * Reads {@code struct ibv_port_attr}.
   *
   * @param a native memory that holds the struct
   * @return the attributes
   * @throws IndexOutOfBoundsException if the memory is shorter than the struct
   */
  public static PortAttributes read(MemorySegment a) {
    return new PortAttributes(
        NativeConstants.of(PortState.class, ibv_port_attr.state(a), PortState.NOP),
        mtu("max_mtu", ibv_port_attr.max_mtu(a)),
        mtu("active_mtu", ibv_port_attr.active_mtu(a)),
        ibv_port_attr.gid_tbl_len(a),
        ibv_port_attr.port_cap_flags(a),
        Integer.toUnsignedLong(ibv_port_attr.max_msg_sz(a)),
        ibv_port_attr.bad_pkey_cntr(a),
        ibv_port_attr.qkey_viol_cntr(a),
        Short.toUnsignedInt(ibv_port_attr.pkey_tbl_len(a)),
        Short.toUnsignedInt(ibv_port_attr.lid(a)),
        Short.toUnsignedInt(ibv_port_attr.sm_lid(a)),
        Byte.toUnsignedInt(ibv_port_attr.lmc(a)),
        Byte.toUnsignedInt(ibv_port_attr.max_vl_num(a)),
        Byte.toUnsignedInt(ibv_port_attr.sm_sl(a)),
        Byte.toUnsignedInt(ibv_port_attr.subnet_timeout(a)),
        Byte.toUnsignedInt(ibv_port_attr.init_type_reply(a)),
        Byte.toUnsignedInt(ibv_port_attr.active_width(a)),
        activeSpeed(a),
        Byte.toUnsignedInt(ibv_port_attr.phys_state(a)),
        NativeConstants.of(LinkLayer.class, ibv_port_attr.link_layer(a), LinkLayer.UNSPECIFIED),
        Byte.toUnsignedInt(ibv_port_attr.flags(a)),
        Short.toUnsignedInt(ibv_port_attr.port_cap_flags2(a)));
  }

  /**
   * Speeds from 200 Gbit/s on need more than 8 bits, and have a field that older kernels leave 0.
   */
  private static int activeSpeed(MemorySegment a) {
    int extended = ibv_port_attr.active_speed_ex(a);
    return extended == 0 ? Byte.toUnsignedInt(ibv_port_attr.active_speed(a)) : extended;
  }

  private static Mtu mtu(String field, int value) {
    for (Mtu mtu : Mtu.values()) {
      if (mtu.value() == value) {
        return mtu;
      }
    }
    throw new RdmaException("ibv_query_port", 0, field + " is " + value + ", which is not an MTU");
  }
}
