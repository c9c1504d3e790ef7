package org.rdma4j.connection;

import java.util.Map;
import org.rdma4j.ConnectionException.Reason;

/**
 * What a node has done, and what it has and uses at one moment, for all its devices together.
 *
 * @param traffic what its connections have transferred, also closed ones
 * @param connections the number of connections that are not closed
 * @param notWritable the number of these that are not {@linkplain RdmaConnection#isWritable
 *     writable}
 * @param refused the number of peers that its servers have refused, for each reason
 * @param broken the number of connections that broke, also while they were set up, for each reason
 * @param buffers the number of buffers of {@link NodeConfig#bufferBytes} that are registered
 * @param maxBuffers the limit of that for each device, {@link NodeConfig#maxBuffers}
 * @param buffersInUse the number of buffers that are posted, on the way, or held by the program
 * @param postedReceives the number of buffers that are posted, ready for messages
 * @param largeBytes the registered bytes for longer messages
 */
public record NodeStatistics(
    Traffic traffic,
    int connections,
    int notWritable,
    Map<Refusal, Long> refused,
    Map<Reason, Long> broken,
    int buffers,
    int maxBuffers,
    int buffersInUse,
    int postedReceives,
    long largeBytes) {}
