package org.rdma4j.connection;

import java.net.InetSocketAddress;

/**
 * Decides over each peer that connects to a server, before the connection is set up. {@link
 * RdmaServer#onConnect} sets it.
 */
@FunctionalInterface
public interface ConnectHandler {
  /**
   * A peer asks for a connection. Its side waits for the answer, so this must not take long: the
   * time counts against the timeout of the peer, and as many peers as the backlog of the server
   * allows wait at a time; further ones are refused.
   *
   * @param peer the address of the peer
   * @return what becomes of it
   */
  Admission connecting(InetSocketAddress peer);
}
