package org.rdma4j.verbs.address;

import java.util.OptionalInt;

/**
 * The Ethernet destination of packets to a GID.
 *
 * @param address the address of the next hop
 * @param vlan the VLAN in the packets, 0 to 4095; empty if they have none
 * @see org.rdma4j.verbs.Port#resolve
 */
public record EthernetDestination(EthernetAddress address, OptionalInt vlan) {}
