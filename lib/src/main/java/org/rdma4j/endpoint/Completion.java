package org.rdma4j.endpoint;

import org.rdma4j.verbs.CompletionOpcode;

/**
 * The completion of a request that succeeded.
 *
 * @param id the id that the request was posted with
 * @param opcode the kind of the request
 * @param bytes the number of bytes received or read; 0 for sends and writes, which always transfer
 *     everything
 * @see Endpoint#await
 */
public record Completion(long id, CompletionOpcode opcode, long bytes) {}
