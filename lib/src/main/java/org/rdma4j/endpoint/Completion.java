package org.rdma4j.endpoint;

import org.rdma4j.verbs.CompletionOpcode;

/**
 * A request of an endpoint that was carried out.
 *
 * @param id the id that it was posted with
 * @param opcode what it was
 * @param bytes how many bytes were received or read; 0 of sends and writes, which are always whole
 */
public record Completion(long id, CompletionOpcode opcode, long bytes) {}
