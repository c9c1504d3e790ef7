/**
 * Addresses in an RDMA network: how packets find a port and a queue pair.
 *
 * <p>A {@link org.rdma4j.verbs.address.Gid} identifies a port; on InfiniBand a local identifier
 * (LID) does too. An {@link org.rdma4j.verbs.address.AddressVector} describes the path to a port,
 * and a {@link org.rdma4j.verbs.address.QueuePairAddress} is what a peer has to know about a queue
 * pair to connect to it.
 *
 * <p>The GID to use in an Ethernet network that routes IPv4:
 *
 * {@snippet :
 * int gid =
 *     device.gids().stream()
 *         .filter(entry -> entry.port() == 1 && entry.type() == GidType.ROCE_V2)
 *         .filter(entry -> entry.gid().toInetAddress() instanceof Inet4Address)
 *         .mapToInt(GidEntry::index)
 *         .findFirst()
 *         .orElse(0);
 * QueuePairAddress address = queuePair.address(1, gid); // what the peer needs
 * }
 */
@NullMarked
package org.rdma4j.verbs.address;

import org.jspecify.annotations.NullMarked;
