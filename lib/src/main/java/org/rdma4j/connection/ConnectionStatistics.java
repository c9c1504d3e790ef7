package org.rdma4j.connection;

/**
 * What a connection has done, and what it is waiting for, at one moment.
 *
 * @param traffic what it has transferred
 * @param credits the number of messages that the peer can receive now
 * @param grantedCredits the number of messages that the peer may send now
 * @param outstanding the number of messages and operations that are not done
 * @param pendingRequests the number of requests to the peer that are still unanswered
 * @param heldBytes the memory that messages hold, in bytes, which this side has sent and which have
 *     not arrived: the whole of each buffer, whatever the length of its message
 * @param waits how often a thread had to wait
 */
public record ConnectionStatistics(
    Traffic traffic,
    int credits,
    int grantedCredits,
    int outstanding,
    int pendingRequests,
    long heldBytes,
    long waits) {}
