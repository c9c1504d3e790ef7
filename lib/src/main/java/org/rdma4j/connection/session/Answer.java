package org.rdma4j.connection.session;

import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;

/**
 * The outcome of a request to the peer.
 *
 * @param listener its listener
 * @param buffer the answer; null if there is none
 * @param failure why there is none
 */
public record Answer(
    Object listener, @Nullable Buffer buffer, @Nullable RuntimeException failure) {}
