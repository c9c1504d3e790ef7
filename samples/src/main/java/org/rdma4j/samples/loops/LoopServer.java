package org.rdma4j.samples.loops;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.connection.RdmaServer;

/**
 * A server whose port is served by several event loops. A connection belongs to one of them for its
 * whole life, so loops share nothing and need no lock.
 */
final class LoopServer implements AutoCloseable {
  private final List<Worker> workers = new ArrayList<>();
  private final RdmaServer server;

  /** Used by the first loop alone, in which the handler below runs. */
  private int next;

  LoopServer(InetSocketAddress address, int loops) {
    boolean bound = false;
    try {
      for (int i = 0; i < loops; i++) {
        workers.add(new Worker(i));
      }
      server = workers.getFirst().loop().node().bind(address);
      bound = true;
    } finally {
      if (!bound) {
        workers.forEach(Worker::end);
      }
    }
    // Called before the connection of a peer is set up. incoming.reject("...") would make the
    // connect of the peer fail, with that reason.
    server.onConnect(incoming -> workers.get(next++ % workers.size()).accept(incoming));
  }

  InetSocketAddress address() {
    return server.localAddress();
  }

  /**
   * Ends the server without losing a request: no further peer connects, the clients are notified,
   * and each loop goes on until its clients have gone.
   */
  @Override
  public void close() {
    server.close();
    workers.forEach(Worker::end);
    try {
      for (Worker each : workers) {
        each.await();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns how many ticks slow clients have missed, when the server has ended. */
  long skipped() {
    return workers.stream().mapToLong(Worker::skipped).sum();
  }
}
