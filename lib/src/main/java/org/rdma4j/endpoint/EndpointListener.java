package org.rdma4j.endpoint;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.rdma4j.platform.NativeLibraries;

/**
 * Waits for endpoints to connect, on a TCP port. It has no RDMA resources: each accepted endpoint
 * has its own, and stays open when the listener is closed.
 *
 * <p>All methods may be called from any thread.
 *
 * @see Endpoint#listen(InetSocketAddress)
 */
public final class EndpointListener implements AutoCloseable {
  /** How long a peer may take for each of its messages, of which it sends two. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final PendingPeers<Endpoint> peers;

  private EndpointListener(PendingPeers<Endpoint> peers) {
    this.peers = peers;
  }

  static EndpointListener on(InetSocketAddress local, EndpointConfig config) throws IOException {
    NativeLibraries.require();
    return new EndpointListener(PendingPeers.on(local, new EndpointAnswers(config), PATIENCE));
  }

  /**
   * Returns the address that the listener listens on.
   *
   * @return the TCP address; if port 0 was requested, with the port that the system chose
   */
  public InetSocketAddress address() {
    return peers.address();
  }

  /**
   * Waits for the next peer, and connects with it.
   *
   * <p>The handshakes of all peers go on at once, so a slow or silent peer does not delay the
   * others. Nothing is allocated for a peer before it has sent its address. A peer has 30 seconds
   * for each of its two messages. At most 512 peers may be silent at a time, and 64 may not have
   * answered this side's address; if there are more, the one that has waited longest is discarded.
   *
   * @param timeout the time to wait for the peer and its messages. It does not include what this
   *     side does itself, such as opening the device. If a peer is still in its handshake at the
   *     end, the next call goes on with it
   * @return the connected endpoint, to which the peer may send at once
   * @throws SocketTimeoutException if no peer completed the handshake in time; the message tells
   *     whether peers came
   * @throws HandshakeException if a peer is not an endpoint, ended early, sent an address that
   *     cannot be used, or took too long for a message; the next call waits for the next peer
   * @throws IOException if the system cannot accept a connection
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws IllegalArgumentException if the timeout is negative, or the configuration names a
   *     device, port or GID that does not exist, or requires more than the device has
   * @throws IllegalStateException if the listener is closed, also while waiting
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws org.rdma4j.RdmaException if no port is active, or a resource is not available
   */
  public Endpoint accept(Duration timeout) throws IOException, InterruptedException {
    return peers.accept(timeout);
  }

  /**
   * Stops listening, and ends the waits of other threads. Accepted endpoints stay open. Does
   * nothing if the listener is closed.
   *
   * @throws IOException if the socket cannot be closed
   */
  @Override
  public void close() throws IOException {
    peers.close();
  }

  @Override
  public String toString() {
    return "listener on " + peers.address();
  }
}
