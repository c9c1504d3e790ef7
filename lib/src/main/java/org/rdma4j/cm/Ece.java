package org.rdma4j.cm;

/**
 * Enhanced connection establishment, {@code struct ibv_ece}: options beyond the standard that two
 * adapters of one vendor agree on while they connect.
 *
 * @param vendorId the vendor, not 0 where anything is offered
 * @param options what that vendor's provider understands
 */
public record Ece(int vendorId, int options) {}
