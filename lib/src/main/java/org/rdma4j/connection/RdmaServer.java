package org.rdma4j.connection;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmEvent;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.platform.Deadline;

/**
 * Listens for connections, as {@link java.nio.channels.ServerSocketChannel} does for TCP.
 *
 * <p>All methods may be called from any thread. If several threads accept, each connection goes to
 * one of them.
 */
public final class RdmaServer implements AutoCloseable {
  private static final int BACKLOG = 128;

  /** The time that a peer may take for its part of the connection, while other peers wait. */
  private static final Duration HANDSHAKE = Duration.ofSeconds(10);

  private final SynchronousCmId listener;
  private final ConnectionConfig config;

  private RdmaServer(SynchronousCmId listener, ConnectionConfig config) {
    this.listener = listener;
    this.config = config;
  }

  /**
   * Creates a server that listens on an address, with the default configuration.
   *
   * @param local the address to listen on, such as {@code new InetSocketAddress(7471)} for all
   *     devices; with port 0 the system chooses a port
   * @return the server
   * @throws IllegalArgumentException if the address is unresolved
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if it cannot listen there: EADDRINUSE if the port is in use, ENODEV if no
   *     RDMA device has that address
   */
  public static RdmaServer bind(InetSocketAddress local) {
    return bind(local, ConnectionConfig.DEFAULT);
  }

  /**
   * Creates a server that listens on an address.
   *
   * @param local the address to listen on; with port 0 the system chooses a port
   * @param config the configuration of this side of each accepted connection
   * @return the server
   * @throws IllegalArgumentException if the address is unresolved
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if it cannot listen there: EADDRINUSE if the port is in use, ENODEV if no
   *     RDMA device has that address
   */
  public static RdmaServer bind(InetSocketAddress local, ConnectionConfig config) {
    SynchronousCmId listener = SynchronousCmId.open(PortSpace.TCP);
    try {
      listener.id().bind(local);
      listener.id().listen(BACKLOG);
      return new RdmaServer(listener, config);
    } catch (RuntimeException failed) {
      listener.close();
      throw failed;
    }
  }

  /**
   * Returns the address that the server listens on.
   *
   * @return the address, with the port that the system chose
   * @throws IllegalStateException if the server is closed
   */
  public InetSocketAddress localAddress() {
    return listener.id().localAddress();
  }

  /**
   * Waits for a peer to connect. Skips peers that give up or fail meanwhile, and those that are not
   * an {@link RdmaConnection}.
   *
   * @param timeout the time to wait for a peer, which may then take up to ten seconds more for its
   *     part of the connection
   * @return the connection, ready to send; empty if no peer came in time
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative, or the configuration requires more
   *     than the device has
   * @throws IllegalStateException if the server is closed, also while waiting
   * @throws RdmaException if the device was removed, or a channel cannot be created
   */
  public Optional<RdmaConnection> accept(Duration timeout) throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    while (true) {
      Optional<SynchronousCmId> id = listener.awaitRequest(deadline.remaining());
      if (id.isEmpty()) {
        return Optional.empty();
      }
      Optional<RdmaConnection> connection = accept(id.get());
      if (connection.isPresent()) {
        return connection;
      }
    }
  }

  private Optional<RdmaConnection> accept(SynchronousCmId id) throws InterruptedException {
    CmEvent.ConnectRequest request = id.request().orElseThrow();
    Optional<Hello> peer = Hello.read(request.parameters().privateData());
    try {
      if (peer.isPresent()) {
        return Optional.of(ConnectionSetup.accept(id, config, peer.get(), HANDSHAKE));
      }
      id.id().reject(ByteBuffer.allocate(0));
    } catch (RdmaException lost) {
      // One peer that fails must not keep the server from accepting the next one.
      System.getLogger("org.rdma4j")
          .log(System.Logger.Level.DEBUG, "could not accept a peer", lost);
    }
    id.close();
    return Optional.empty();
  }

  /**
   * Stops listening, and ends the waits of other threads. Accepted connections stay open. Does
   * nothing if the server is closed.
   *
   * @throws RdmaException if a resource could not be destroyed
   */
  @Override
  public void close() {
    listener.close();
  }
}
