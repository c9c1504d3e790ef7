package org.rdma4j.verbs.address;

import org.rdma4j.platform.Range;

/**
 * Where a queue pair is: what its peer has to be told, by whatever other way, before both connect.
 *
 * @param lid the local identifier of its port, 0 to 0xffff; 0 on Ethernet
 * @param queuePairNumber its number, 0 to 0xffffff
 * @param sequenceNumber the packet sequence number that it begins with, 0 to 0xffffff
 * @param gid the identifier of its port; {@link Gid#ZERO} where it uses none
 */
public record QueuePairAddress(int lid, int queuePairNumber, int sequenceNumber, Gid gid) {
  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException where one is out of its range
   */
  public QueuePairAddress {
    Range.check("lid", lid, 0, 0xffff);
    Range.check("queuePairNumber", queuePairNumber, 0, 0xff_ffff);
    Range.check("sequenceNumber", sequenceNumber, 0, 0xff_ffff);
  }
}
