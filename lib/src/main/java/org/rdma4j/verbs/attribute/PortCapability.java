package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** What a port has said it can: {@code enum ibv_port_cap_flags}. */
public enum PortCapability implements NativeConstant {
  /** A subnet manager runs on it: {@code IBV_PORT_SM}. */
  SUBNET_MANAGER(rdma_h.IBV_PORT_SM()),
  /** It sends notices: {@code IBV_PORT_NOTICE_SUP}. */
  NOTICE(rdma_h.IBV_PORT_NOTICE_SUP()),
  /** It sends traps: {@code IBV_PORT_TRAP_SUP}. */
  TRAP(rdma_h.IBV_PORT_TRAP_SUP()),
  /** It takes optional values of the inter-packet delay: {@code IBV_PORT_OPT_IPD_SUP}. */
  INTER_PACKET_DELAY(rdma_h.IBV_PORT_OPT_IPD_SUP()),
  /** Connections can move to an alternate path by themselves: {@code IBV_PORT_AUTO_MIGR_SUP}. */
  AUTOMATIC_PATH_MIGRATION(rdma_h.IBV_PORT_AUTO_MIGR_SUP()),
  /** It maps service levels to virtual lanes: {@code IBV_PORT_SL_MAP_SUP}. */
  SERVICE_LEVEL_MAPPING(rdma_h.IBV_PORT_SL_MAP_SUP()),
  /** It keeps the management key over a power cycle: {@code IBV_PORT_MKEY_NVRAM}. */
  MKEY_IN_NONVOLATILE_MEMORY(rdma_h.IBV_PORT_MKEY_NVRAM()),
  /** It keeps the partition keys over a power cycle: {@code IBV_PORT_PKEY_NVRAM}. */
  PARTITION_KEYS_IN_NONVOLATILE_MEMORY(rdma_h.IBV_PORT_PKEY_NVRAM()),
  /** Its light can be asked for: {@code IBV_PORT_LED_INFO_SUP}. */
  LED_INFO(rdma_h.IBV_PORT_LED_INFO_SUP()),
  /** It has a system image GUID: {@code IBV_PORT_SYS_IMAGE_GUID_SUP}. */
  SYSTEM_IMAGE_GUID(rdma_h.IBV_PORT_SYS_IMAGE_GUID_SUP()),
  /**
   * It sends traps for the partition keys of external switch ports: {@code
   * IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP}.
   */
  PARTITION_KEY_TRAP(rdma_h.IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP()),
  /** It has speeds beyond 10 Gbit/s a lane: {@code IBV_PORT_EXTENDED_SPEEDS_SUP}. */
  EXTENDED_SPEEDS(rdma_h.IBV_PORT_EXTENDED_SPEEDS_SUP()),
  /** It tells further capabilities: {@code IBV_PORT_CAP_MASK2_SUP}. */
  FURTHER_CAPABILITIES(rdma_h.IBV_PORT_CAP_MASK2_SUP()),
  /** A communication manager runs on it: {@code IBV_PORT_CM_SUP}. */
  COMMUNICATION_MANAGEMENT(rdma_h.IBV_PORT_CM_SUP()),
  /** It tunnels SNMP: {@code IBV_PORT_SNMP_TUNNEL_SUP}. */
  SNMP_TUNNEL(rdma_h.IBV_PORT_SNMP_TUNNEL_SUP()),
  /** It can be initialised anew: {@code IBV_PORT_REINIT_SUP}. */
  REINITIALIZATION(rdma_h.IBV_PORT_REINIT_SUP()),
  /** A device manager runs on it: {@code IBV_PORT_DEVICE_MGMT_SUP}. */
  DEVICE_MANAGEMENT(rdma_h.IBV_PORT_DEVICE_MGMT_SUP()),
  /** It answers management packets of a vendor's class: {@code IBV_PORT_VENDOR_CLASS_SUP}. */
  VENDOR_CLASS(rdma_h.IBV_PORT_VENDOR_CLASS_SUP()),
  /** It sends notices for directed routes: {@code IBV_PORT_DR_NOTICE_SUP}. */
  DIRECTED_ROUTE_NOTICE(rdma_h.IBV_PORT_DR_NOTICE_SUP()),
  /** It sends a notice when its capabilities change: {@code IBV_PORT_CAP_MASK_NOTICE_SUP}. */
  CAPABILITY_NOTICE(rdma_h.IBV_PORT_CAP_MASK_NOTICE_SUP()),
  /** A boot manager runs on it: {@code IBV_PORT_BOOT_MGMT_SUP}. */
  BOOT_MANAGEMENT(rdma_h.IBV_PORT_BOOT_MGMT_SUP()),
  /** It measures the round trip of its link: {@code IBV_PORT_LINK_LATENCY_SUP}. */
  LINK_LATENCY(rdma_h.IBV_PORT_LINK_LATENCY_SUP()),
  /** It can tell clients to register anew: {@code IBV_PORT_CLIENT_REG_SUP}. */
  CLIENT_REREGISTRATION(rdma_h.IBV_PORT_CLIENT_REG_SUP()),
  /** Its GIDs are made of IP addresses: {@code IBV_PORT_IP_BASED_GIDS}. */
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
