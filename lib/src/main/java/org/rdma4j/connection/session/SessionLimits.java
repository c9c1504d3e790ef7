package org.rdma4j.connection.session;

/**
 * What a session may use.
 *
 * @param receives the number of credits that the peer may have at most
 * @param sends the number of requests that the device may have, without {@link
 *     Session#CONTROL_SENDS}
 * @param maxMessageBytes the length of the longest message, and of all long messages together
 * @param features those of {@link org.rdma4j.connection.wire.Hello} that the peer was sent
 */
public record SessionLimits(int receives, int sends, long maxMessageBytes, int features) {}
