package org.rdma4j.netty;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import org.rdma4j.connection.DrivenNode;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;

/**
 * Lets an event loop drive a {@link RdmaNode} of its own: what arrives is found, and delivered to
 * the channel, by the thread of the loop. {@link #newFactory()} is given to a {@link
 * io.netty.channel.MultiThreadIoEventLoopGroup}.
 *
 * <p>When the loop ends, it closes its channels, and waits until what they have sent has arrived,
 * at most for {@link NodeConfig#closeTimeout}.
 */
public final class RdmaIoHandler implements IoHandler {
  /**
   * What one buffer holds: large enough that a stream takes few of them, and with the header of a
   * message a whole number of packets.
   */
  private static final int BUFFER_BYTES = (16 << 10) - 16;

  /** How often a handler turns to its channels before it lets the loop run its tasks. */
  private static final int ROUNDS = 16;

  /** The part of the node's buffers that users may keep without a copy. */
  private static final int KEPT_PART = 4;

  private final NodeConfig config;
  private final DrivenNode node;
  private final Set<NodeRegistration> registrations = new LinkedHashSet<>();
  private final Queue<NodeRegistration> ready = new ArrayDeque<>();
  private final KeptBuffers kept;

  /** The connections that are being closed. Only the event loop uses it. */
  private int closing;

  private RdmaIoHandler(NodeConfig config, DrivenNode node) {
    this.config = config;
    this.node = node;
    this.kept = new KeptBuffers(config.maxBuffers() / KEPT_PART);
  }

  /**
   * Returns what makes the handlers of an event loop group. Buffers have 16,368 bytes; all else is
   * as in {@link NodeConfig#DEFAULT}.
   *
   * @return the factory; it throws what {@link DrivenNode#open()} throws
   */
  public static IoHandlerFactory newFactory() {
    return newFactory(NodeConfig.DEFAULT.bufferBytes(BUFFER_BYTES));
  }

  /**
   * Returns what makes the handlers of an event loop group.
   *
   * @param config the configuration of the node of each event loop
   * @return the factory; it throws what {@link DrivenNode#open(NodeConfig)} throws
   * @throws IllegalArgumentException if {@link NodeConfig#handlers} is set: the event loop runs all
   *     handlers
   */
  public static IoHandlerFactory newFactory(NodeConfig config) {
    return newFactory(config, node -> {});
  }

  /**
   * Returns what makes the handlers of an event loop group, for a program that publishes the
   * statistics of their nodes, or registers memory with them.
   *
   * @param config the configuration of the node of each event loop
   * @param opened gets each node before its event loop begins. The handler closes the node; its
   *     methods that wait must not be called by the event loop
   * @return the factory; it throws what {@link DrivenNode#open(NodeConfig)} and the consumer throw
   * @throws IllegalArgumentException if {@link NodeConfig#handlers} is set: the event loop runs all
   *     handlers
   */
  public static IoHandlerFactory newFactory(NodeConfig config, Consumer<RdmaNode> opened) {
    Objects.requireNonNull(opened, "opened");
    if (config.handlers() != NodeConfig.WHERE_IT_HAPPENS) {
      throw new IllegalArgumentException(
          "NodeConfig.handlers is set, but the event loop runs all handlers: leave it out");
    }
    return executor -> open(config, opened);
  }

  private static RdmaIoHandler open(NodeConfig config, Consumer<RdmaNode> opened) {
    DrivenNode node = DrivenNode.open(config);
    boolean done = false;
    try {
      opened.accept(node.node());
      done = true;
      return new RdmaIoHandler(config, node);
    } finally {
      if (!done) {
        node.close();
      }
    }
  }

  DrivenNode node() {
    return node;
  }

  /** Returns the count of the buffers of this node that users keep. */
  KeptBuffers kept() {
    return kept;
  }

  @Override
  public int run(IoHandlerContext context) {
    int done = ready.isEmpty() && context.canBlock() ? drive(context) : node.poll();
    return done + runReady();
  }

  /** Polls, and waits until the next task of the loop is due. */
  private int drive(IoHandlerContext context) {
    long nanos =
        context.deadlineNanos() < 0 ? Long.MAX_VALUE : context.delayNanos(System.nanoTime());
    try {
      return node.driveNanos(Math.max(0, nanos));
    } catch (InterruptedException ignored) {
      // As in Netty's other handlers: an event loop is ended by its shutdown alone.
      return 0;
    }
  }

  private int runReady() {
    int done = 0;
    for (int i = 0; i < ROUNDS && !ready.isEmpty(); i++) {
      for (int left = ready.size(); left > 0; left--) {
        NodeRegistration next = ready.poll();
        if (next == null) {
          return done;
        }
        next.run();
        done++;
      }
    }
    return done;
  }

  void ready(NodeRegistration registration) {
    ready.add(registration);
  }

  @Override
  public void wakeup() {
    node.wakeup();
  }

  @Override
  public boolean isCompatible(Class<? extends IoHandle> handleType) {
    return RdmaHandle.class.isAssignableFrom(handleType);
  }

  @Override
  public IoRegistration register(IoHandle handle) {
    if (!(handle instanceof RdmaHandle mine)) {
      throw new IllegalArgumentException(
          handle + " is not a channel of this transport: use RdmaSocketChannel");
    }
    RdmaIoHandler home = mine.home();
    if (home != null && home != this) {
      throw new IllegalStateException(
          "the channel has a connection of another event loop, which alone can serve it: register"
              + " it with that loop again, or connect another channel");
    }
    NodeRegistration registration = new NodeRegistration(this, mine);
    registrations.add(registration);
    handle.registered();
    return registration;
  }

  void remove(NodeRegistration registration) {
    registrations.remove(registration);
  }

  /** Closes a connection that a channel has left, once what it has sent has arrived. */
  void closeSoon(RdmaConnection connection) {
    closing++;
    var unused = connection.closeAsync().whenComplete((closed, failed) -> closing--);
  }

  @Override
  public void prepareToDestroy() {
    for (NodeRegistration each : List.copyOf(registrations)) {
      try {
        each.handle().close();
      } catch (RuntimeException failed) {
        log("a channel could not be closed", failed);
      }
    }
  }

  @Override
  public void destroy() {
    // A loop without a quiet period may end without having prepared for it.
    prepareToDestroy();
    long end = System.nanoTime() + config.closeTimeout().toNanos();
    try {
      while (closing > 0 && System.nanoTime() - end < 0) {
        if (node.poll() == 0) {
          node.awaitReady(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
        }
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      node.close();
    }
  }

  private static void log(String message, Throwable thrown) {
    System.getLogger("org.rdma4j").log(Level.WARNING, message, thrown);
  }
}
