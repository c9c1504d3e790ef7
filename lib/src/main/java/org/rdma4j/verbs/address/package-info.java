/**
 * Addresses in an RDMA network: how packets find a port and a queue pair.
 *
 * <p>A {@link org.rdma4j.verbs.address.Gid} identifies a port; on InfiniBand a local identifier
 * (LID) does too. An {@link org.rdma4j.verbs.address.AddressVector} describes the path to a port,
 * and a {@link org.rdma4j.verbs.address.QueuePairAddress} is what a peer has to know about a queue
 * pair to connect to it.
 *
 * <p>The addresses that a peer needs, with the GID that suits most networks, and with another one:
 *
 * {@snippet :
 * QueuePairAddress address = queuePair.address();
 * GidEntry chosen = device.port(1).gids().getLast();
 * QueuePairAddress other = queuePair.address(1, chosen.index());
 * }
 */
@NullMarked
package org.rdma4j.verbs.address;

import org.jspecify.annotations.NullMarked;
