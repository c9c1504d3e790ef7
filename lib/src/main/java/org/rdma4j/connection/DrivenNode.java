package org.rdma4j.connection;

import java.time.Duration;
import org.rdma4j.RdmaException;
import org.rdma4j.platform.Deadline;

/**
 * A node without threads of its own, which the program drives from one of its threads, as it does a
 * {@link java.nio.channels.Selector}: for an event loop, or for one thread per processor. There is
 * no change of threads between the device and a handler.
 *
 * {@snippet :
 * try (var driven = DrivenNode.open()) {
 *   driven.node().bind(new InetSocketAddress(7471)).onAccept(peer -> peer.onMessage(...));
 *   while (running) {
 *     driven.drive(Duration.ofSeconds(1));
 *   }
 * }
 * }
 *
 * <p>Handlers run, and futures are completed, in the thread that calls {@link #poll}, unless {@link
 * NodeConfig#handlers} says otherwise. They must not wait. A method of the node or of its
 * connections that waits, such as a blocking receive, may be called outside of a handler: in the
 * thread that has called {@link #drive}, {@link #poll} or {@link #awaitReady} last (at first the
 * thread that has opened the node), it polls until it has what it waits for, and handlers may run
 * meanwhile; in other threads, it waits until that thread has polled it.
 *
 * <p>What blocks in the kernel, such as the registration of memory for a long message and the end
 * of a connection, is done by short-lived threads, in which no user code runs. Each device has one
 * completion queue, whatever {@link NodeConfig#pollers} is.
 *
 * <p>A program that pins the thread of its loop to a processor opens the node first. On Linux, a
 * new thread inherits the processors of the thread that starts it. If the loop is pinned before,
 * the threads that the JVM starts for the node, among them the carriers of virtual threads, share
 * that processor with the loop, and with all virtual threads of the program.
 *
 * <p>All methods may be called from any thread; one thread at a time polls.
 */
public final class DrivenNode implements AutoCloseable {
  private final RdmaNode node;
  private final NodeState state;
  private final Driving driving;

  private DrivenNode(RdmaNode node) {
    this.node = node;
    this.state = node.state();
    Driving known = state.driving();
    if (known == null) {
      throw new AssertionError("a node with threads");
    }
    this.driving = known;
  }

  /**
   * Opens a node with the default configuration, to be driven.
   *
   * @return the node, to be closed
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if this machine has no RDMA device, or it may not be used
   */
  public static DrivenNode open() {
    return open(NodeConfig.DEFAULT);
  }

  /**
   * Opens a node to be driven.
   *
   * @param config the configuration of all its connections
   * @return the node, to be closed
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if this machine has no RDMA device, or it may not be used
   */
  public static DrivenNode open(NodeConfig config) {
    return new DrivenNode(RdmaNode.openDriven(config));
  }

  /**
   * Returns the node, to connect and to bind servers.
   *
   * @return the node
   */
  public RdmaNode node() {
    return node;
  }

  /**
   * Does pending work: delivers what has arrived and completed, handles events, and looks after
   * connections. It never waits, except for the handlers that it calls, and for the steps of new
   * connections in the kernel. A thread that calls it without a pause finds each message
   * immediately, and takes a processor. {@code ibv_poll_cq}, {@code rdma_get_cm_event}; {@code
   * ibv_req_notify_cq} when a queue is empty.
   *
   * @return how much it did: the completions, events and other steps; 0 if there was nothing, or if
   *     another thread polls
   * @throws IllegalStateException if the node is closed, or a handler calls this
   */
  public int poll() {
    checkOpen();
    return driving.poll();
  }

  /**
   * Waits until {@link #poll} has something to do, or until {@link #wakeup} is called. May also
   * return early, at least every 250 ms, because the node looks after its connections at intervals.
   * {@code epoll}.
   *
   * @param timeout the time to wait; zero does not wait
   * @return whether there is something to do, or wakeup was called; false if time is up
   * @throws InterruptedException if the thread is interrupted
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the node is closed, also while waiting, or a handler calls
   *     this
   */
  public boolean awaitReady(Duration timeout) throws InterruptedException {
    long end = Deadline.after(timeout).end();
    checkOpen();
    boolean ready = driving.awaitReady(end);
    checkOpen();
    return ready;
  }

  /**
   * Does pending work, as {@link #poll} does. If there is nothing, goes on polling as long as that
   * has found something soon the last times, for at most 1 ms, and then waits, as {@link
   * #awaitReady} does. So a thread that exchanges short messages finds each immediately, and a
   * thread that has nothing to do sleeps. {@code ibv_poll_cq}, {@code rdma_get_cm_event}, {@code
   * epoll}.
   *
   * @param timeout the time to wait; zero does not wait
   * @return how much it did, as {@link #poll} returns it; 0 if time is up, or if {@link #wakeup}
   *     was called and there was nothing else
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the node is closed, also while waiting, or a handler calls
   *     this
   */
  public int drive(Duration timeout) throws InterruptedException {
    long end = Deadline.after(timeout).end();
    checkOpen();
    int done = driving.drive(end);
    checkOpen();
    return done;
  }

  private void checkOpen() {
    if (!state.lifetime().isOpen()) {
      throw state.lifetime().closed();
    }
  }

  /**
   * Makes {@link #awaitReady} and {@link #drive} return immediately: in the thread that waits, or
   * the next time that one does. Does nothing if the node is closed.
   */
  public void wakeup() {
    driving.wakeup();
  }

  /**
   * Closes the node, as {@link RdmaNode#close} does. Pending calls of handlers are made in the
   * thread that closes.
   */
  @Override
  public void close() {
    node.close();
  }

  @Override
  public String toString() {
    return node.toString();
  }
}
