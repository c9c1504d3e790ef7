package org.rdma4j.cm;

import org.rdma4j.verbs.address.AddressVector;

/**
 * The destination of datagrams to a peer or to a multicast group: {@code struct rdma_ud_param}.
 *
 * @param addressVector the address, from which an address handle is created
 * @param queuePairNumber the number of the peer's queue pair; for a multicast group, the number
 *     that stands for all members
 * @param queueKey the queue key that datagrams to that queue pair must carry
 * @see org.rdma4j.verbs.SendRequests#to
 */
public record DatagramDestination(AddressVector addressVector, int queuePairNumber, int queueKey) {}
