package org.rdma4j.verbs.address;

import java.util.OptionalInt;

/**
 * Where packets to a GID go on Ethernet.
 *
 * @param address the address of the next hop
 * @param vlan the VLAN that they carry, 0 to 4095; empty where they carry none
 */
public record EthernetDestination(EthernetAddress address, OptionalInt vlan) {}
