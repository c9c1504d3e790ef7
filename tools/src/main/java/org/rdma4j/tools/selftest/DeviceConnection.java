package org.rdma4j.tools.selftest;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;
import org.rdma4j.connection.RdmaServer;

/**
 * A connection of the device to itself, over its IP address.
 *
 * @param node the node of both ends
 * @param server the server
 * @param client one end
 * @param peer the other end
 */
record DeviceConnection(
    RdmaNode node, RdmaServer server, RdmaConnection client, RdmaConnection peer)
    implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(20);

  static DeviceConnection open(TestedDevice tested) throws InterruptedException, TimeoutException {
    InetAddress address =
        tested
            .address()
            .orElseThrow(() -> new NotSupported("no IP address of this machine leads to it"));
    RdmaNode node = RdmaNode.open();
    boolean done = false;
    try {
      RdmaServer server = node.bind(new InetSocketAddress(address, 0));
      RdmaConnection client = node.connect(server.localAddress(), TIMEOUT);
      RdmaConnection peer = server.accept(TIMEOUT);
      done = true;
      return new DeviceConnection(node, server, client, peer);
    } finally {
      if (!done) {
        node.close();
      }
    }
  }

  /** Closes the node, and with it all of its objects. */
  @Override
  public void close() {
    try {
      client.close();
      peer.close();
    } finally {
      node.close();
    }
  }
}
