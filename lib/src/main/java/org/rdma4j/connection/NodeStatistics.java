package org.rdma4j.connection;

/**
 * What a node has done, and what it has and uses at one moment, for all its devices together.
 *
 * @param traffic what its connections have transferred, also closed ones
 * @param connections the number of connections that are not closed
 * @param buffers the number of buffers of {@link NodeConfig#bufferBytes} that are registered
 * @param buffersInUse the number of buffers that are posted, on the way, or held by the program
 * @param postedReceives the number of buffers that are posted, ready for messages
 * @param largeBytes the registered bytes for longer messages
 */
public record NodeStatistics(
    Traffic traffic,
    int connections,
    int buffers,
    int buffersInUse,
    int postedReceives,
    long largeBytes) {}
