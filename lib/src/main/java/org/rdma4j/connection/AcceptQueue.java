package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.LockOrder;
import org.rdma4j.platform.TimeText;

/** The connections of a server that are established, until the program takes them. */
final class AcceptQueue {
  private final NodeState node;
  private final Lifetime server;
  private final ReentrantLock lock = LockOrder.ACCEPT_QUEUE.newLock();
  private final Condition changed = lock.newCondition();
  private final Set<Link> waiting = new LinkedHashSet<>();
  private @Nullable Consumer<RdmaConnection> handler;
  private @Nullable RdmaException failure;

  AcceptQueue(NodeState node, Lifetime server) {
    this.node = node;
    this.server = server;
  }

  int size() {
    lock.lock();
    try {
      return waiting.size();
    } finally {
      lock.unlock();
    }
  }

  void add(Link link) {
    lock.lock();
    try {
      waiting.add(link);
      if (handler == null) {
        changed.signal();
      } else {
        tellOf(link);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Makes threads that wait fail, because no more connections come. */
  void fail(RdmaException reason) {
    lock.lock();
    try {
      failure = reason;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the waits of threads, and returns the connections that are still in the queue. */
  List<Link> close() {
    lock.lock();
    try {
      List<Link> left = new ArrayList<>(waiting);
      waiting.clear();
      changed.signalAll();
      return left;
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a connection. */
  Link take(Duration timeout) throws InterruptedException, TimeoutException {
    long end = Deadline.after(timeout).end();
    node.checkMayWait();
    node.loop().driveUntil(end, this::hasLinkOrEnd);
    lock.lockInterruptibly();
    try {
      if (handler != null) {
        throw new IllegalStateException(
            server + " has a handler of connections, which accepts all of them");
      }
      while (waiting.isEmpty()) {
        if (!server.isOpen()) {
          throw server.closed();
        }
        if (failure != null) {
          throw failure;
        }
        long left = end - System.nanoTime();
        if (left <= 0) {
          throw new TimeoutException("no peer connected within " + TimeText.of(timeout));
        }
        changed.awaitNanos(left);
      }
      Link next = waiting.iterator().next();
      waiting.remove(next);
      return next;
    } finally {
      lock.unlock();
    }
  }

  private boolean hasLinkOrEnd() {
    lock.lock();
    try {
      return !waiting.isEmpty() || failure != null || !server.isOpen();
    } finally {
      lock.unlock();
    }
  }

  /** Lets a handler have all connections that wait and that come. */
  void handle(Consumer<RdmaConnection> ofConnections) {
    lock.lock();
    try {
      handler = ofConnections;
      waiting.forEach(this::tellOf);
    } finally {
      lock.unlock();
    }
  }

  /** Gives a connection to the handler soon, where user code runs. */
  private void tellOf(Link link) {
    node.tell(() -> give(link));
  }

  /** Gives a connection to the handler, unless the server was closed. Runs user code. */
  private void give(Link next) {
    Consumer<RdmaConnection> taker;
    lock.lock();
    try {
      taker = waiting.remove(next) ? handler : null;
    } finally {
      lock.unlock();
    }
    if (taker == null) {
      return;
    }
    RdmaConnection connection = new RdmaConnection(next);
    try {
      taker.accept(connection);
    } catch (Throwable thrown) {
      node.log(
          Level.WARNING,
          "the handler of connections threw an exception, so " + next + " is closed",
          thrown);
      node.logFailure(next, next.closing().closeAtOnce());
    }
  }
}
