package org.rdma4j.verbs;

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
   * @throws IllegalArgumentException where a number is out of its range
   */
  public RateLimit {
    Arguments.checkRange("rate", rate, 0, Integer.MAX_VALUE);
    Arguments.checkRange("maxBurst", maxBurst, 0, Integer.MAX_VALUE);
    Arguments.checkRange("typicalPacket", typicalPacket, 0, 0xffff);
  }
}
