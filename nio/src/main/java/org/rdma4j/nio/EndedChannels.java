package org.rdma4j.nio;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The accepted channels that were closed last before they went over. Their clients may still be
 * about to claim them, and are told that they have ended, so that they try with the next one.
 */
final class EndedChannels {
  private static final int MAX = 1024;

  private final Map<String, InetAddress> peers =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, InetAddress> eldest) {
          return size() > MAX;
        }
      };

  synchronized void add(String name, InetAddress peer) {
    peers.put(name, peer);
  }

  /** Returns the TCP address of the peer of a channel; null if no such channel has ended. */
  synchronized @Nullable InetAddress peer(String name) {
    return peers.get(name);
  }
}
