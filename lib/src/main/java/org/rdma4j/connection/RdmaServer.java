package org.rdma4j.connection;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.rdma4j.ConnectionException;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmId;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.platform.Range;

/**
 * Listens for connections, as {@link java.nio.channels.ServerSocketChannel} does for TCP.
 *
 * <p>Connections are established while no thread waits for them: the thread of the {@link RdmaNode}
 * performs the handshakes of all peers concurrently. A peer that does not finish its part within
 * {@link NodeConfig#handshakeTimeout} is dropped, and delays no other. Peers that are dropped or
 * rejected are logged as warnings of the logger {@code org.rdma4j}, with their addresses.
 *
 * <p>All methods may be called from any thread. If several threads accept, each connection goes to
 * one of them.
 */
public final class RdmaServer implements AutoCloseable {
  static final int DEFAULT_BACKLOG = 128;

  /** Peers connect to it over IPv6 and over IPv4. */
  private static final InetAddress IPV6_WILDCARD = ipv6Wildcard();

  private final Listening listening;

  private RdmaServer(Listening listening) {
    this.listening = listening;
    Leaks.watch(this, listening.lifetime());
  }

  /**
   * Creates a server of the {@linkplain RdmaNode#shared shared node} that listens on an address.
   *
   * @param local the address to listen on, such as {@code new InetSocketAddress(7471)} for all
   *     devices, over IPv4 and IPv6; with port 0 the system chooses a port
   * @return the server
   * @throws IllegalArgumentException if the address is unresolved
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if it cannot listen there: EADDRINUSE, or EADDRNOTAVAIL for the wildcard
   *     address, if the port is in use; ENODEV if no RDMA device has that address, such as a
   *     loopback address
   */
  public static RdmaServer bind(InetSocketAddress local) {
    return RdmaNode.shared().bind(local);
  }

  static RdmaServer bind(NodeState node, InetSocketAddress local, int backlog) {
    Range.check("backlog", backlog, 1, 1 << 16);
    checkNotLoopback(local);
    Listening listening = node.lifetime().whileOpen(() -> new Listening(node, backlog));
    boolean done = false;
    try {
      CmId id = listening.id();
      if (isWildcard(local) && hasIpv6()) {
        id.options().ipv6Only(false);
        id.bind(new InetSocketAddress(IPV6_WILDCARD, local.getPort()));
      } else {
        id.bind(local);
      }
      if (id.hasDevice()) {
        node.share(id.device());
      } else {
        node.prepareAll();
      }
      // More than the backlog, because the kernel rejects without a reason and uncounted.
      listening.listen(Math.max(backlog, DEFAULT_BACKLOG));
      done = true;
      return new RdmaServer(listening);
    } finally {
      if (!done) {
        listening.close();
      }
    }
  }

  private static boolean isWildcard(InetSocketAddress local) {
    return !local.isUnresolved() && local.getAddress().isAnyLocalAddress();
  }

  /** Returns whether this system has IPv6, which can be switched off. */
  private static boolean hasIpv6() {
    return Files.exists(Path.of("/proc/net/if_inet6"));
  }

  private static InetAddress ipv6Wildcard() {
    try {
      return InetAddress.getByAddress(new byte[16]);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static void checkNotLoopback(InetSocketAddress local) {
    if (!local.isUnresolved() && local.getAddress().isLoopbackAddress()) {
      throw new RdmaException(
          "rdma_bind_addr(" + local + ")",
          ErrorNumber.ENODEV.value(),
          "A loopback address belongs to no RDMA device, and the kernel would listen on all of them:"
              + " bind to the address of a device, or to all with new InetSocketAddress(port)");
    }
  }

  /**
   * Returns the address that the server listens on.
   *
   * @return the address, with the port that the system chose; the wildcard address of IPv6 if it
   *     listens on all addresses and the system has IPv6
   * @throws IllegalStateException if the server is closed
   */
  public InetSocketAddress localAddress() {
    return listening.localAddress();
  }

  /**
   * Waits for a peer to connect, as long as that takes.
   *
   * @return the connection, ready to send
   * @throws InterruptedException if the thread is interrupted
   * @throws IllegalStateException if the server is closed, also while waiting
   * @throws ConnectionException if the device was removed
   */
  public RdmaConnection accept() throws InterruptedException {
    return Forever.await(this::accept);
  }

  /**
   * Waits for a peer to connect.
   *
   * @param timeout the time to wait; zero does not wait
   * @return the connection, ready to send
   * @throws InterruptedException if the thread is interrupted
   * @throws TimeoutException if no peer has connected in time
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the server is closed, also while waiting
   * @throws ConnectionException if the device was removed
   */
  public RdmaConnection accept(Duration timeout) throws InterruptedException, TimeoutException {
    return new RdmaConnection(listening.accept(timeout));
  }

  /**
   * Gives all peers to a handler: connections that exist, and later ones. {@link #accept} then
   * throws.
   *
   * <p>The handler runs in the executor of {@link NodeConfig#handlers}; by default, in the thread
   * that drives a {@link DrivenNode}, or in a thread of the node. It should not wait for its peer:
   * a node has 256 such threads at most, so peers that do nothing would hold up others. If it
   * throws an exception, that is logged and the connection is closed.
   *
   * @param handler gets each connection, ready to send
   */
  public void onAccept(Consumer<RdmaConnection> handler) {
    listening.handle(Objects.requireNonNull(handler, "handler"));
  }

  /**
   * Lets a handler accept or reject each peer that connects from now on, before anything is set up
   * for it; if it accepts the peer, the handler chooses the node of the connection. {@code
   * rdma_accept}, {@code rdma_reject}. A connection that it accepts goes to the future of {@link
   * IncomingConnection#accept()}, and not to {@link #accept} or {@link #onAccept}.
   *
   * {@snippet :
   * server.onConnect(
   *     incoming -> {
   *       if (isBusy()) {
   *         incoming.reject("the server is busy");
   *       } else {
   *         incoming.accept(nextLoop()).thenAccept(this::serve);
   *       }
   *     });
   * }
   *
   * <p>The handler runs where that of {@link #onAccept} runs. If it throws an exception, that is
   * logged and the peer is rejected, unless it has decided. As many peers as the backlog allows may
   * wait for a decision; further ones are rejected.
   *
   * @param handler decides, now or later; it replaces that of an earlier call
   */
  public void onConnect(Consumer<IncomingConnection> handler) {
    listening.handleConnects(Objects.requireNonNull(handler, "handler"));
  }

  /**
   * Stops listening, and ends the waits of other threads. Accepted connections stay open; others
   * are closed. Does nothing if the server is closed. Called by a handler, it returns immediately,
   * and the server is closed soon: until then, {@link #accept} may still return a peer. Otherwise
   * it waits at most for {@link NodeConfig#closeTimeout}, or for 5 s if that is longer.
   *
   * @throws RdmaException if a resource could not be destroyed
   */
  @Override
  public void close() {
    listening.close();
  }

  @Override
  public String toString() {
    return listening.lifetime().toString();
  }
}
