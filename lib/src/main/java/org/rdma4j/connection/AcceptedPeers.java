package org.rdma4j.connection;

import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** How many connections the servers of a node have with each address, established or not. */
final class AcceptedPeers {
  private final int max;
  private final Map<InetAddress, Integer> counts = new ConcurrentHashMap<>();

  /**
   * Creates the peers of a node, which are none.
   *
   * @param max the number of connections with one address; 0 for any number
   */
  AcceptedPeers(int max) {
    this.max = max;
  }

  /** Returns whether there is no further connection for an address. */
  boolean isFull(InetAddress address) {
    return max > 0 && counts.getOrDefault(address, 0) >= max;
  }

  void add(InetAddress address) {
    counts.merge(address, 1, Integer::sum);
  }

  void remove(InetAddress address) {
    counts.computeIfPresent(address, (same, count) -> count == 1 ? null : count - 1);
  }
}
