package org.rdma4j.verbs.attribute;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_port_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeConstants;

/**
 * What a port is and can do: {@code struct ibv_port_attr}, by {@code ibv_query_port}.
 *
 * @param state the logical state
 * @param maxMtu the largest MTU that it could use
 * @param activeMtu the MTU that it uses
 * @param gidTableLength the length of its GID table
 * @param capabilityFlags a mask of {@code enum ibv_port_cap_flags}
 * @param maxMessageSize the longest message in bytes
 * @param badPartitionKeys how many packets had a bad partition key
 * @param qkeyViolations how many packets had a wrong qkey
 * @param partitionKeyTableLength the length of its partition key table
 * @param lid its local identifier; 0 on Ethernet
 * @param subnetManagerLid the local identifier of the subnet manager
 * @param lidMaskControl how many low bits of the LID are free for paths
 * @param maxVirtualLanes a code of the most virtual lanes
 * @param subnetManagerServiceLevel the service level to the subnet manager
 * @param subnetTimeout the propagation delay of the subnet, as an exponent n of 4.096 microseconds
 *     x 2^n
 * @param initTypeReply how the subnet manager initialised it
 * @param activeWidth a code of the link width: 1 for 1X, 2 for 4X, 4 for 8X, 8 for 12X, 16 for 2X
 * @param activeSpeed a code of the speed of a lane: 1 for 2.5 Gbit/s, 2 for 5, 4 and 8 for 10, 16
 *     for 14, 32 for 25, 64 for 50, 128 for 100
 * @param physicalState a code of the physical state: 5 for link up
 * @param linkLayer what lies under it
 * @param flags a mask of {@code enum ibv_query_port_flags}
 * @param capabilityFlags2 a mask of {@code enum ibv_port_cap_flags2}
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
   * What the port has said it can, of {@link #capabilityFlags}.
   *
   * @return the capabilities that have a name here
   */
  public Set<PortCapability> capabilities() {
    return NativeConstants.flags(PortCapability.class, capabilityFlags);
  }

  /**
   * What the port has said it can besides, of {@link #capabilityFlags2}.
   *
   * @return the capabilities that have a name here
   */
  public Set<PortCapability2> furtherCapabilities() {
    return NativeConstants.flags(PortCapability2.class, capabilityFlags2);
  }

  /**
   * Whether packets of this port need a global route, as they do on Ethernet: {@code
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
   * @return what it says
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
        Byte.toUnsignedInt(ibv_port_attr.active_speed(a)),
        Byte.toUnsignedInt(ibv_port_attr.phys_state(a)),
        NativeConstants.of(LinkLayer.class, ibv_port_attr.link_layer(a), LinkLayer.UNSPECIFIED),
        Byte.toUnsignedInt(ibv_port_attr.flags(a)),
        Short.toUnsignedInt(ibv_port_attr.port_cap_flags2(a)));
  }

  private static Mtu mtu(String field, int value) {
    for (Mtu mtu : Mtu.values()) {
      if (mtu.value() == value) {
        return mtu;
      }
    }
    throw new RdmaException("ibv_query_port", 0, field + " is " + value + ", which is no MTU");
  }
}
