package org.rdma4j.nio;

/**
 * What the channels of a provider have done, at one moment.
 *
 * @param upgraded the number of channels that have gone over to RDMA
 * @param stayed the number of channels of clients that have tried to, and stay with TCP
 * @param sentBytes the bytes that were written and went over RDMA
 * @param receivedBytes the bytes that came over RDMA and were read
 */
public record ChannelStatistics(long upgraded, long stayed, long sentBytes, long receivedBytes) {}
