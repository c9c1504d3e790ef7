package org.rdma4j.connection.session;

import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;

/**
 * Memory that a long message of the peer needs before more of it can be fetched.
 *
 * @param buffer the buffer that the message has, of which more has to be registered; null if it has
 *     none yet
 * @param total the length of the message
 * @param first how many of its first bytes must be registered
 */
public record MemoryNeed(@Nullable Buffer buffer, long total, long first) {}
