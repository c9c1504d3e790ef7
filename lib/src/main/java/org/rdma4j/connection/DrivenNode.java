package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.rdma4j.RdmaException;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.TimeText;

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
 * <p>Handlers run, and futures are completed, in the thread that calls {@link #poll()}, unless
 * {@link NodeConfig#handlers} says otherwise. They must not wait. A method of the node or of its
 * connections that waits, such as a blocking receive, may be called outside of a handler: in the
 * thread that has called {@link #drive}, {@link #poll()} or {@link #awaitReady} last (at first the
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
public final class DrivenNode implements AutoCloseable, Executor {
  private final RdmaNode node;
  private final NodeState state;
  private final Loop loop;
  private volatile IdleStrategy idle = IdleStrategy.SPIN;

  private DrivenNode(RdmaNode node) {
    this.node = node;
    this.state = node.state();
    this.loop = state.loop();
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
    return loop.poll();
  }

  /**
   * Does pending work up to a limit, as {@link #poll()} does, so that a loop with other work comes
   * back to it soon. Messages and operations, events, tasks and timers take turns.
   *
   * @param most the maximum number of completions, events, tasks and timers together, at least 1.
   *     One completion may bring several messages, because a peer sends several short ones together
   * @return how much it did
   * @throws IllegalArgumentException if the maximum is less than 1
   * @throws IllegalStateException if the node is closed, or a handler calls this
   */
  public int poll(int most) {
    Range.check("most", most, 1, Integer.MAX_VALUE);
    checkOpen();
    return loop.poll(most);
  }

  /**
   * Waits until {@link #poll()} has something to do, or until {@link #wakeup} is called. May also
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
    boolean ready = loop.awaitReady(end);
    checkOpen();
    return ready;
  }

  /**
   * Does pending work, as {@link #poll()} does. If there is nothing, does what the {@link
   * #idleStrategy} says until there is something: by default, goes on polling as long as that has
   * found something soon the last times, for at most 1 ms, and then waits, as {@link #awaitReady}
   * does. {@code ibv_poll_cq}, {@code rdma_get_cm_event}, {@code epoll}.
   *
   * @param timeout the time to wait; zero does not wait
   * @return how much it did, as {@link #poll()} returns it; 0 if time is up, or if {@link #wakeup}
   *     was called and there was nothing else
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the node is closed, also while waiting, or a handler calls
   *     this
   */
  public int drive(Duration timeout) throws InterruptedException {
    return driveUntil(Deadline.after(timeout).end());
  }

  /**
   * Does what {@link #drive(Duration)} does, for a loop that has its times in nanoseconds and must
   * not create an object for each.
   *
   * @param nanos the time to wait, in nanoseconds; 0 does not wait
   * @return how much it did, as {@link #poll()} returns it
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws IllegalArgumentException if the time is negative
   * @throws IllegalStateException if the node is closed, also while waiting, or a handler calls
   *     this
   */
  public int driveNanos(long nanos) throws InterruptedException {
    if (nanos < 0) {
      throw new IllegalArgumentException("nanos is " + nanos + ", must not be negative");
    }
    // Half of what a long holds is 146 years, and the end of it no overflow.
    return driveUntil(System.nanoTime() + Math.min(nanos, Long.MAX_VALUE / 2));
  }

  private int driveUntil(long end) throws InterruptedException {
    checkOpen();
    int done = loop.drive(end, idle);
    checkOpen();
    return done;
  }

  /**
   * Sets what {@link #drive} does while there is nothing to do.
   *
   * @param strategy what it does from the next call on; {@link IdleStrategy#SPIN} until this is
   *     called
   */
  public void idleStrategy(IdleStrategy strategy) {
    idle = Objects.requireNonNull(strategy, "strategy");
  }

  /**
   * Runs a task soon, in the thread that drives, after the tasks that were given before. It runs
   * under the rules of handlers: it must not wait. Called by a handler or a task, this does not run
   * it there, but at the next poll. What a task throws is logged, and ends nothing.
   *
   * <p>A task that is given to a node that is being closed is run by the thread that closes it.
   *
   * @param task what to run
   */
  @Override
  public void execute(Runnable task) {
    Objects.requireNonNull(task, "task");
    loop.execute(() -> run("a task", task));
  }

  /**
   * Runs an action after a time, in the thread that drives, once: an action that is to be repeated
   * sets the next time itself. It runs under the rules of handlers: it must not wait. What it
   * throws is logged, and ends nothing. The end of the node drops actions that are not due.
   *
   * @param delay the time until it is due; it runs at the first poll after that
   * @param action what to run
   * @return the timer, which can be cancelled
   * @throws IllegalArgumentException if the delay is negative
   * @throws IllegalStateException if the node is closed
   */
  public LoopTimer schedule(Duration delay, Runnable action) {
    Objects.requireNonNull(action, "action");
    if (delay.isNegative()) {
      throw new IllegalArgumentException(
          "delay is " + TimeText.of(delay) + ", must not be negative");
    }
    checkOpen();
    return loop.schedule(Deadline.after(delay).end(), () -> run("the action of a timer", action));
  }

  /** Runs user code, whose failure is not that of the node. */
  private void run(String what, Runnable userCode) {
    try {
      userCode.run();
    } catch (Throwable thrown) {
      state.log(Level.WARNING, what + " of the program threw an exception", thrown);
    }
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
    loop.wakeup();
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
