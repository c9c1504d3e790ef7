package org.rdma4j.valkey;

import java.net.Socket;

/**
 * A socket to a Valkey server over RDMA. {@link #connect} connects it to an address and port at
 * which the server listens for RDMA ({@code rdma-bind}, {@code rdma-port}); from then on it is used
 * as any socket, by any client that speaks the protocol of Valkey over sockets.
 *
 * <p>It differs from a socket of TCP in these points:
 *
 * <ul>
 *   <li>The end of the connection is an IOException with its reason, not the end of the input.
 *       Bytes that arrived before are read first.
 *   <li>The {@linkplain #setSoTimeout timeout} also limits how long a write waits until the server
 *       takes bytes. Without one, that is 60 s, and {@link #connect} without a timeout waits 30 s.
 *       After a write that has failed the connection is of no use any more: close it.
 *   <li>{@link #setReceiveBufferSize} and {@link #setSendBufferSize} are exact, from 4 KiB to 1
 *       GiB, and take effect if they are called before {@link #connect}. So much memory is
 *       registered until the socket is closed: by default, 1 MiB to receive and 512 KiB to send.
 *   <li>It cannot be bound, and one direction alone cannot be closed.
 *   <li>Options that concern TCP alone are accepted and have no effect. Keepalives are always sent.
 *   <li>An interrupt does not end a read or a write, also in a virtual thread.
 * </ul>
 *
 * <p>As with other sockets, one thread may read while another one writes, and {@link #close} ends
 * both with a SocketException. It waits for up to a second until what was written has arrived.
 */
public final class ValkeySocket extends Socket {
  /**
   * Creates a socket that is not connected.
   *
   * @throws java.net.SocketException never
   */
  public ValkeySocket() throws java.net.SocketException {
    super(new ValkeyStream());
  }
}
