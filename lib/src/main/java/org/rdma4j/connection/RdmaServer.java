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
 * Listens for connections: what {@link java.nio.channels.ServerSocketChannel} is to TCP.
 *
 * <p>All methods may be called from any thread; where several accept, each connection goes to one
 * of them.
 */
public final class RdmaServer implements AutoCloseable {
  private static final int BACKLOG = 128;

  /** How long a peer may take for its part of the connection, while others wait behind it. */
  private static final Duration HANDSHAKE = Duration.ofSeconds(10);

  private final SynchronousCmId listener;
  private final ConnectionConfig config;

  private RdmaServer(SynchronousCmId listener, ConnectionConfig config) {
    this.listener = listener;
    this.config = config;
  }

  /**
   * Listens, with everything else at its default.
   *
   * @param local the address to listen on, such as {@code new InetSocketAddress(7471)} for all
   *     devices; port 0 has the system choose one
   * @return the server
   * @throws IllegalArgumentException where the address is unresolved
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where it cannot listen there: EADDRINUSE where the port is taken, ENODEV
   *     where no RDMA device has that address
   */
  public static RdmaServer bind(InetSocketAddress local) {
    return bind(local, ConnectionConfig.DEFAULT);
  }

  /**
   * Listens.
   *
   * @param local the address to listen on; port 0 has the system choose one
   * @param config what each connection is made with that it accepts
   * @return the server
   * @throws IllegalArgumentException where the address is unresolved
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where it cannot listen there: EADDRINUSE where the port is taken, ENODEV
   *     where no RDMA device has that address
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
   * The address that it listens on.
   *
   * @return the address, with the port that the system chose
   * @throws IllegalStateException where the server is closed
   */
  public InetSocketAddress localAddress() {
    return listener.id().localAddress();
  }

  /**
   * Waits for a peer that connects. One that gives up meanwhile, or is no {@link RdmaConnection},
   * is passed over.
   *
   * @param timeout how long to wait at most; for its part, a peer may take up to ten seconds more
   * @return the connection, which may send at once; empty where no peer came within that time
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative, or the configuration asks for
   *     more than the device has
   * @throws IllegalStateException where the server is closed, also while waiting
   * @throws RdmaException where the device is gone, or a channel cannot be had
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
        return Optional.of(RdmaConnection.accepted(id, config, peer.get(), HANDSHAKE));
      }
      id.id().reject(ByteBuffer.allocate(0));
    } catch (RdmaException lost) {
      // The next peer is not to suffer from it.
      System.getLogger("org.rdma4j").log(System.Logger.Level.DEBUG, "a peer was lost", lost);
    }
    id.close();
    return Optional.empty();
  }

  /**
   * Ends the waits, and listens no more. The connections stay. Does nothing where it is closed.
   *
   * @throws RdmaException where a destruction failed
   */
  @Override
  public void close() {
    listener.close();
  }
}
