package org.rdma4j.connection;

/**
 * What a connection has done, and what it is waiting for, at one moment.
 *
 * @param sentMessages the number of messages that were given to the device
 * @param sentBytes the number of their bytes, without those that the peer fetches
 * @param receivedMessages the number of messages that have arrived
 * @param receivedBytes the number of their bytes
 * @param credits the number of messages that the peer can receive now
 * @param grantedCredits the number of messages that the peer may send now
 * @param outstanding the number of messages and operations that are not done
 * @param pendingRequests the number of requests to the peer that are still unanswered
 * @param waits how often a thread had to wait
 */
public record ConnectionStatistics(
    long sentMessages,
    long sentBytes,
    long receivedMessages,
    long receivedBytes,
    int credits,
    int grantedCredits,
    int outstanding,
    int pendingRequests,
    long waits) {}
