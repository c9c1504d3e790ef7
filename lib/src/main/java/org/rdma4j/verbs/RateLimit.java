package org.rdma4j.verbs;

import org.rdma4j.platform.Range;

/**
 * A limit of the rate at which a queue pair sends: {@code struct ibv_qp_rate_limit_attr}.
 *
 * @param rate the maximum average rate in kbit/s; 0 for no limit
 * @param maxBurst the maximum number of bytes in a burst; 0 lets the device choose
 * @param typicalPacket the typical length of a packet in bytes, 0 to 65535; 0 lets the device
 *     choose
 * @see QueuePair#limitRate
 * @see org.rdma4j.verbs.attribute.PacketPacingCapabilities
 */
public record RateLimit(int rate, int maxBurst, int typicalPacket) {
  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a number is out of range
   */
  public RateLimit {
    Range.check("rate", rate, 0, Integer.MAX_VALUE);
    Range.check("maxBurst", maxBurst, 0, Integer.MAX_VALUE);
    Range.check("typicalPacket", typicalPacket, 0, 0xffff);
  }
}
