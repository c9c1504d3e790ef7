package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * A capability that a port reports: {@code enum ibv_port_cap_flags}.
 *
 * @see PortAttributes
 * @see PortCapability2
 */
public enum PortCapability implements NativeConstant {
  /** A subnet manager runs on the port: {@code IBV_PORT_SM}. */
  SUBNET_MANAGER(rdma_h.IBV_PORT_SM()),
  /** The port sends notices: {@code IBV_PORT_NOTICE_SUP}. */
  NOTICE(rdma_h.IBV_PORT_NOTICE_SUP()),
  /** The port sends traps: {@code IBV_PORT_TRAP_SUP}. */
  TRAP(rdma_h.IBV_PORT_TRAP_SUP()),
  /** The port accepts optional values of the inter-packet delay: {@code IBV_PORT_OPT_IPD_SUP}. */
  INTER_PACKET_DELAY(rdma_h.IBV_PORT_OPT_IPD_SUP()),
  /**
   * Connections can migrate to their alternate path automatically: {@code IBV_PORT_AUTO_MIGR_SUP}.
   */
  AUTOMATIC_PATH_MIGRATION(rdma_h.IBV_PORT_AUTO_MIGR_SUP()),
  /** The port maps service levels to virtual lanes: {@code IBV_PORT_SL_MAP_SUP}. */
  SERVICE_LEVEL_MAPPING(rdma_h.IBV_PORT_SL_MAP_SUP()),
  /** The port keeps the management key over a power cycle: {@code IBV_PORT_MKEY_NVRAM}. */
  MKEY_IN_NONVOLATILE_MEMORY(rdma_h.IBV_PORT_MKEY_NVRAM()),
  /** The port keeps the partition keys over a power cycle: {@code IBV_PORT_PKEY_NVRAM}. */
  PARTITION_KEYS_IN_NONVOLATILE_MEMORY(rdma_h.IBV_PORT_PKEY_NVRAM()),
  /** The state of the LED can be queried: {@code IBV_PORT_LED_INFO_SUP}. */
  LED_INFO(rdma_h.IBV_PORT_LED_INFO_SUP()),
  /** The port has a system image GUID: {@code IBV_PORT_SYS_IMAGE_GUID_SUP}. */
  SYSTEM_IMAGE_GUID(rdma_h.IBV_PORT_SYS_IMAGE_GUID_SUP()),
  /**
   * The port sends traps for the partition keys of external switch ports: {@code
   * IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP}.
   */
  PARTITION_KEY_TRAP(rdma_h.IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP()),
  /** The port supports speeds above 10 Gbit/s per lane: {@code IBV_PORT_EXTENDED_SPEEDS_SUP}. */
  EXTENDED_SPEEDS(rdma_h.IBV_PORT_EXTENDED_SPEEDS_SUP()),
  /**
   * The port reports the capabilities of {@link PortCapability2}: {@code IBV_PORT_CAP_MASK2_SUP}.
   */
  CAPABILITIES_2(rdma_h.IBV_PORT_CAP_MASK2_SUP()),
  /** A communication manager runs on the port: {@code IBV_PORT_CM_SUP}. */
  COMMUNICATION_MANAGEMENT(rdma_h.IBV_PORT_CM_SUP()),
  /** The port tunnels SNMP: {@code IBV_PORT_SNMP_TUNNEL_SUP}. */
  SNMP_TUNNEL(rdma_h.IBV_PORT_SNMP_TUNNEL_SUP()),
  /** The port can be initialized again: {@code IBV_PORT_REINIT_SUP}. */
  REINITIALIZATION(rdma_h.IBV_PORT_REINIT_SUP()),
  /** A device manager runs on the port: {@code IBV_PORT_DEVICE_MGMT_SUP}. */
  DEVICE_MANAGEMENT(rdma_h.IBV_PORT_DEVICE_MGMT_SUP()),
  /**
   * The port answers management packets of a vendor-specific class: {@code
   * IBV_PORT_VENDOR_CLASS_SUP}.
   */
  VENDOR_CLASS(rdma_h.IBV_PORT_VENDOR_CLASS_SUP()),
  /** The port sends notices for directed routes: {@code IBV_PORT_DR_NOTICE_SUP}. */
  DIRECTED_ROUTE_NOTICE(rdma_h.IBV_PORT_DR_NOTICE_SUP()),
  /** The port sends a notice when its capabilities change: {@code IBV_PORT_CAP_MASK_NOTICE_SUP}. */
  CAPABILITY_NOTICE(rdma_h.IBV_PORT_CAP_MASK_NOTICE_SUP()),
  /** A boot manager runs on the port: {@code IBV_PORT_BOOT_MGMT_SUP}. */
  BOOT_MANAGEMENT(rdma_h.IBV_PORT_BOOT_MGMT_SUP()),
  /** The port measures the round-trip time of its link: {@code IBV_PORT_LINK_LATENCY_SUP}. */
  LINK_LATENCY(rdma_h.IBV_PORT_LINK_LATENCY_SUP()),
  /** The port can ask clients to register again: {@code IBV_PORT_CLIENT_REG_SUP}. */
  CLIENT_REREGISTRATION(rdma_h.IBV_PORT_CLIENT_REG_SUP()),
  /** The GIDs of the port are IP addresses: {@code IBV_PORT_IP_BASED_GIDS}. */
  IP_BASED_GIDS(rdma_h.IBV_PORT_IP_BASED_GIDS());

  private final int value;

  PortCapability(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
