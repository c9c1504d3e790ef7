package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * A capability that a port reports in its second mask: {@code enum ibv_port_cap_flags2}.
 *
 * @see PortAttributes
 * @see PortCapability
 */
public enum PortCapability2 implements NativeConstant {
  /** The description of the node can be set: {@code IBV_PORT_SET_NODE_DESC_SUP}. */
  SET_NODE_DESCRIPTION(rdma_h.IBV_PORT_SET_NODE_DESC_SUP()),
  /** The port has the attribute PortInfoExtended: {@code IBV_PORT_INFO_EXT_SUP}. */
  EXTENDED_INFO(rdma_h.IBV_PORT_INFO_EXT_SUP()),
  /** The port can be virtualized: {@code IBV_PORT_VIRT_SUP}. */
  VIRTUALIZATION(rdma_h.IBV_PORT_VIRT_SUP()),
  /**
   * A switch reports the states of its ports in a table: {@code
   * IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP}.
   */
  SWITCH_PORT_STATE_TABLE(rdma_h.IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP()),
  /** The port supports a link width of 2X: {@code IBV_PORT_LINK_WIDTH_2X_SUP}. */
  LINK_WIDTH_2X(rdma_h.IBV_PORT_LINK_WIDTH_2X_SUP()),
  /** The port supports 50 Gbit/s per lane: {@code IBV_PORT_LINK_SPEED_HDR_SUP}. */
  LINK_SPEED_HDR(rdma_h.IBV_PORT_LINK_SPEED_HDR_SUP()),
  /** The port supports 100 Gbit/s per lane: {@code IBV_PORT_LINK_SPEED_NDR_SUP}. */
  LINK_SPEED_NDR(rdma_h.IBV_PORT_LINK_SPEED_NDR_SUP()),
  /** The port supports 200 Gbit/s per lane: {@code IBV_PORT_LINK_SPEED_XDR_SUP}. */
  LINK_SPEED_XDR(rdma_h.IBV_PORT_LINK_SPEED_XDR_SUP());

  private final int value;

  PortCapability2(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
