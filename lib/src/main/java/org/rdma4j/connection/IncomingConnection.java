package org.rdma4j.connection;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rdma4j.cm.CmId;
import org.rdma4j.connection.wire.Hello;

/**
 * A peer that asks a server for a connection, to be accepted or rejected once, by any thread. The
 * {@link RdmaServer#onConnect} handler gets it. Nothing was set up for it yet, and the peer waits:
 * a decision that takes longer than {@link NodeConfig#handshakeTimeout} of the server is a
 * rejection.
 */
public final class IncomingConnection {
  private final Listening server;
  private final CmId id;
  private final InetSocketAddress address;
  private final Hello hello;
  private final long end;
  private final AtomicBoolean decided = new AtomicBoolean();

  /**
   * Creates it for a peer.
   *
   * @param end when the decision is late, on the scale of {@link System#nanoTime}
   */
  IncomingConnection(Listening server, CmId id, InetSocketAddress address, Hello hello, long end) {
    this.server = server;
    this.id = id;
    this.address = address;
    this.hello = hello;
    this.end = end;
  }

  CmId id() {
    return id;
  }

  Hello hello() {
    return hello;
  }

  boolean isLate() {
    return System.nanoTime() - end >= 0;
  }

  /** Returns once whether there was no decision before. */
  boolean decide() {
    return decided.compareAndSet(false, true);
  }

  /**
   * Returns the address of the peer.
   *
   * @return the address and the port
   */
  public InetSocketAddress peerAddress() {
    return address;
  }

  /**
   * Accepts the connection with the node of the server.
   *
   * <p>{@code rdma_create_qp}, {@code rdma_accept}.
   *
   * @return a future that completes with the connection, ready to send, in the thread or the
   *     executor that {@link NodeConfig#handlers} chooses; and that completes exceptionally if
   *     there is no room for it, or the peer does not finish its part. If the program cancels it,
   *     no connection is left
   * @throws IllegalStateException if it was accepted or rejected
   */
  public CompletableFuture<RdmaConnection> accept() {
    return server.accept(this, server.node());
  }

  /**
   * Accepts the connection with a node that need not be that of the server. The connection is one
   * of that node: its buffers, its limits and its threads serve it. {@code rdma_migrate_id}, {@code
   * rdma_create_qp}, {@code rdma_accept}.
   *
   * @param node the node of the connection
   * @return a future like that of {@link #accept()}, which completes in the thread or the executor
   *     in which the handlers of that node run
   * @throws IllegalStateException if it was accepted or rejected
   */
  public CompletableFuture<RdmaConnection> accept(RdmaNode node) {
    return server.accept(this, node.state());
  }

  /**
   * Accepts the connection with a node that the program drives, so that one port is served by
   * several loops.
   *
   * @param loop the node of the connection
   * @return a future like that of {@link #accept()}, which completes in the thread that drives that
   *     node
   * @throws IllegalStateException if it was accepted or rejected
   */
  public CompletableFuture<RdmaConnection> accept(DrivenNode loop) {
    return accept(loop.node());
  }

  /**
   * Rejects the connection: the connect of the peer fails with {@link
   * org.rdma4j.ConnectionException.Reason#REFUSED} and this reason. {@code rdma_reject}.
   *
   * @param reason the reason, of which the peer gets the first 148 characters; it gets a question
   *     mark for each that is not ASCII
   * @throws IllegalStateException if it was accepted or rejected
   */
  public void reject(String reason) {
    server.reject(this, reason);
  }

  @Override
  public String toString() {
    return "connection of " + address;
  }
}
