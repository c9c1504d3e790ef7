package org.rdma4j.verbs;

import org.rdma4j.platform.Range;

/**
 * How much a queue pair sends: {@code struct ibv_qp_rate_limit_attr}.
 *
 * @param rate the most on average, in kbit/s; 0 for no limit
 * @param maxBurst the most bytes at once; 0 where the device chooses
 * @param typicalPacket the length of most packets in bytes, 0 to 65535; 0 where the device chooses
 */
public record RateLimit(int rate, int maxBurst, int typicalPacket) {
  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a number is out of its range
   */
  public RateLimit {
    Range.check("rate", rate, 0, Integer.MAX_VALUE);
    Range.check("maxBurst", maxBurst, 0, Integer.MAX_VALUE);
    Range.check("typicalPacket", typicalPacket, 0, 0xffff);
  }
}
