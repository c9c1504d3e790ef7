package org.rdma4j.cm;

import org.rdma4j.verbs.address.AddressVector;

/**
 * Where datagrams have to be sent: {@code struct rdma_ud_param}.
 *
 * @param addressVector what an address handle is created from
 * @param queuePairNumber the number of the queue pair; that of all members for a multicast group
 * @param queueKey what datagrams there must carry
 */
public record DatagramDestination(AddressVector addressVector, int queuePairNumber, int queueKey) {}
