package org.rdma4j.nio;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.RdmaServer;

/** Listens over RDMA, if possible, next to a channel or socket that listens over TCP. */
final class RdmaListener {
  private final Rendezvous rendezvous;
  private @Nullable RdmaServer server;
  private boolean closed;

  /** Whether it listens over RDMA, or may do so soon: clients that are quick are not refused. */
  private volatile boolean upgrades;

  RdmaListener(Rendezvous rendezvous) {
    this.rendezvous = rendezvous;
  }

  /** Begins, in another thread. */
  void listen(InetSocketAddress local) {
    rendezvous.bean().registerSoon();
    upgrades = rendezvous.mayListen(local);
    if (upgrades) {
      rendezvous.listen(this, local);
    }
  }

  /** Returns whether what is accepted now may be upgraded. */
  boolean upgrades() {
    return upgrades;
  }

  /**
   * Records that it listens. The close of this closes the server.
   *
   * @return false if it is closed already
   */
  synchronized boolean listensOverRdma(RdmaServer listening) {
    server = listening;
    return !closed;
  }

  /** Records that it does not listen over RDMA, and will not. */
  void listensOverTcpOnly() {
    upgrades = false;
  }

  synchronized boolean isListening() {
    return server != null;
  }

  synchronized boolean isClosed() {
    return closed;
  }

  void close() {
    RdmaServer listening;
    synchronized (this) {
      closed = true;
      listening = server;
    }
    if (listening != null) {
      rendezvous.close(listening);
    }
  }
}
