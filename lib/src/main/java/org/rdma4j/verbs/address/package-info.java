/**
 * Addresses in an RDMA network: how a packet finds the port and the queue pair that it is for.
 *
 * <p>A port is named by its {@link org.rdma4j.verbs.address.Gid}, and on InfiniBand by a local
 * identifier (LID) too. An {@link org.rdma4j.verbs.address.AddressVector} is the way there, and a
 * {@link org.rdma4j.verbs.address.QueuePairAddress} is what a peer has to know of a queue pair to
 * connect to it.
 */
@NullMarked
package org.rdma4j.verbs.address;

import org.jspecify.annotations.NullMarked;
