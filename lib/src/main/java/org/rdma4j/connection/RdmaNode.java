package org.rdma4j.connection;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.RdmaException;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.platform.PageMemory;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegionConfig;

/**
 * What the connections and servers of a process share: for each device that they use, a protection
 * domain, registered buffers, a shared receive queue and a few completion queues, each with a
 * thread; and one thread for the events of the connection manager. Memory and file descriptors grow
 * with the traffic, not with the number of connections.
 *
 * <p>{@link RdmaServer#bind} and {@link RdmaConnection#connect} use the node that {@link #shared}
 * returns. A program opens one of its own for other buffers or limits, or to close everything
 * together. A {@link DrivenNode} has no threads: the program polls in a thread of its own.
 *
 * <p>All connections of a node over one device share a protection domain. So memory that is
 * registered once can be used with all of them; and every peer that knows the key of a region can
 * use the region, whichever connection it has to this node. {@link RdmaConnection#expose} grants a
 * part of a region and no more.
 *
 * <p>All methods may be called from any thread.
 */
public final class RdmaNode implements AutoCloseable {
  private static @Nullable RdmaNode shared;

  private final NodeState state;

  private RdmaNode(NodeConfig config, boolean driven) {
    // The threads of the node would meet a null much later.
    this.state = new NodeState(Objects.requireNonNull(config, "config"), driven);
    Leaks.watch(this, state.lifetime());
  }

  /**
   * Opens a node with the default configuration. It uses a device from the first connection or
   * server on.
   *
   * @return the node, to be closed
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if this machine has no RDMA device, or it may not be used
   */
  public static RdmaNode open() {
    return open(NodeConfig.DEFAULT);
  }

  /**
   * Opens a node. It uses a device from the first connection or server on.
   *
   * @param config the configuration of all its connections
   * @return the node, to be closed
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if this machine has no RDMA device, or it may not be used
   */
  public static RdmaNode open(NodeConfig config) {
    return new RdmaNode(config, false);
  }

  /** Opens a node without threads, which {@link DrivenNode} drives. */
  static RdmaNode openDriven(NodeConfig config) {
    return new RdmaNode(config, true);
  }

  NodeState state() {
    return state;
  }

  /**
   * Returns the node of all who do not open one: it has the default configuration, is opened by the
   * first call, and need not be closed.
   *
   * @return the node; a new one if the last was closed
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if this machine has no RDMA device, or it may not be used
   */
  public static synchronized RdmaNode shared() {
    RdmaNode known = shared;
    if (known == null || !known.state.lifetime().isOpen()) {
      known = open();
      shared = known;
    }
    return known;
  }

  /**
   * Returns the configuration.
   *
   * @return what the node was opened with
   */
  public NodeConfig config() {
    return state.config();
  }

  /**
   * Creates a server that listens on an address, for up to 128 peers that have connected and were
   * not accepted.
   *
   * @param local the address to listen on, such as {@code new InetSocketAddress(7471)} for all
   *     devices, over IPv4 and IPv6; with port 0 the system chooses a port
   * @return the server
   * @throws IllegalArgumentException if the address is unresolved
   * @throws RdmaException if it cannot listen there: EADDRINUSE, or EADDRNOTAVAIL for the wildcard
   *     address, if the port is in use; ENODEV if no RDMA device has that address, such as a
   *     loopback address
   */
  public RdmaServer bind(InetSocketAddress local) {
    return bind(local, RdmaServer.DEFAULT_BACKLOG);
  }

  /**
   * Creates a server that listens on an address.
   *
   * @param local the address to listen on, or a wildcard address for all devices, over IPv4 and
   *     IPv6; with port 0 the system chooses a port
   * @param backlog the number of peers that may have connected and not been accepted; further ones
   *     are rejected; at least 1
   * @return the server
   * @throws IllegalArgumentException if the address is unresolved or the backlog is less than 1
   * @throws RdmaException if it cannot listen there: EADDRINUSE, or EADDRNOTAVAIL for the wildcard
   *     address, if the port is in use; ENODEV if no RDMA device has that address, such as a
   *     loopback address
   */
  public RdmaServer bind(InetSocketAddress local, int backlog) {
    return RdmaServer.bind(state, local, backlog);
  }

  /**
   * Connects to a server, and waits as long as that takes.
   *
   * @param server the address that an {@link RdmaServer} listens on
   * @return the connection, ready to send
   * @throws InterruptedException if the thread is interrupted
   * @throws IllegalArgumentException if the address is unresolved
   * @throws ConnectionException if nothing listens at that address, what listens rejects the
   *     connection or is another program, or the address cannot be reached over RDMA, also if
   *     nothing answers
   * @throws RdmaException if a resource is not available
   */
  public RdmaConnection connect(InetSocketAddress server) throws InterruptedException {
    return Forever.await(timeout -> connect(server, timeout));
  }

  /**
   * Connects to a server.
   *
   * @param server the address that an {@link RdmaServer} listens on
   * @param timeout the time for all steps together
   * @return the connection, ready to send
   * @throws InterruptedException if the thread is interrupted
   * @throws TimeoutException if the connection is not established in time
   * @throws IllegalArgumentException if the address is unresolved, or the timeout is negative
   * @throws ConnectionException if nothing listens at that address, what listens rejects the
   *     connection or is another program, or the address cannot be reached over RDMA
   * @throws RdmaException if a resource is not available
   */
  public RdmaConnection connect(InetSocketAddress server, Duration timeout)
      throws InterruptedException, TimeoutException {
    return Connecting.within(state, null, server, timeout);
  }

  /**
   * Connects to a server without waiting for it.
   *
   * <p>The future is completed where {@link NodeConfig#handlers} says: by default in the thread
   * that drives a {@link DrivenNode}, or in a thread of the node. It fails with what {@link
   * #connect(InetSocketAddress, Duration)} throws, with a TimeoutException up to 250 ms late. If
   * the caller cancels it, no connection is left.
   *
   * @param server the address that an {@link RdmaServer} listens on
   * @param timeout the time for all steps together
   * @return completes with the connection, ready to send
   * @throws IllegalArgumentException if the address is unresolved, or the timeout is negative
   * @throws ConnectionException if the system knows immediately that the address cannot be reached
   *     over RDMA
   * @throws RdmaException if a resource is not available
   */
  public CompletableFuture<RdmaConnection> connectAsync(
      InetSocketAddress server, Duration timeout) {
    return Connecting.async(state, null, server, timeout);
  }

  /**
   * Connects to a server from an address of this machine, which decides which device is used,
   * without waiting for the server. The future behaves as that of {@link
   * #connectAsync(InetSocketAddress, Duration)}. {@code rdma_resolve_addr} with a source address.
   *
   * @param local the address of this side; with port 0 the system chooses a port
   * @param server the address that an {@link RdmaServer} listens on
   * @param timeout the time for all steps together
   * @return completes with the connection, ready to send
   * @throws IllegalArgumentException if an address is unresolved, or the timeout is negative
   * @throws ConnectionException if the system knows immediately that the address cannot be reached
   *     over RDMA from there
   * @throws RdmaException if a resource is not available
   */
  public CompletableFuture<RdmaConnection> connectAsync(
      InetSocketAddress local, InetSocketAddress server, Duration timeout) {
    return Connecting.async(state, Objects.requireNonNull(local, "local"), server, timeout);
  }

  /**
   * Connects to a server from an address of this machine, which decides over the device.
   *
   * @param local the address of this side; with port 0 the system chooses a port
   * @param server the address that an {@link RdmaServer} listens on
   * @param timeout the time for all steps together
   * @return the connection, ready to send
   * @throws InterruptedException if the thread is interrupted
   * @throws TimeoutException if the connection is not established in time
   * @throws IllegalArgumentException if an address is unresolved, or the timeout is negative
   * @throws ConnectionException if nothing listens at that address, what listens rejects the
   *     connection or is another program, or the address cannot be reached over RDMA from there
   * @throws RdmaException if a resource is not available
   */
  public RdmaConnection connect(InetSocketAddress local, InetSocketAddress server, Duration timeout)
      throws InterruptedException, TimeoutException {
    return Connecting.within(state, local, server, timeout);
  }

  /**
   * Allocates memory and registers it for all connections of this node, over any device. No
   * connection need exist.
   *
   * @param bytes the length, at least 1
   * @param access the permitted uses, as {@link RdmaConnection#register} describes
   * @return the memory, of whole pages, filled with zeros
   * @throws IllegalArgumentException if the length is out of range, or a flag lacks another that it
   *     requires
   * @throws RdmaException if the memory cannot be allocated or registered
   */
  public NodeMemory register(long bytes, AccessFlag... access) {
    PageMemory memory = PageMemory.allocate(bytes);
    return register(
        memory.segment(), MemoryRegionConfig.of(memory.segment()), memory::close, access);
  }

  /**
   * Registers memory of the caller that is not freed while it is reachable for all connections of
   * this node, over any device. No connection need exist.
   *
   * @param memory the memory, of {@link Arena#ofAuto} or {@link Arena#global}, or of a direct
   *     ByteBuffer
   * @param access the permitted uses, as {@link RdmaConnection#register} describes
   * @return the memory
   * @throws IllegalArgumentException if the memory is on the Java heap, is empty, or belongs to an
   *     arena that can be closed; or a flag lacks another that it requires
   * @throws RdmaException if the memory cannot be registered
   */
  public NodeMemory register(MemorySegment memory, AccessFlag... access) {
    return register(memory, MemoryRegionConfig.of(memory), () -> {}, access);
  }

  /**
   * Registers memory of the caller in an arena of the caller, such as a mapped file, for all
   * connections of this node, over any device. No connection need exist. Closing the arena closes
   * the regions first. {@link MemoryRegionConfig#of(Arena, MemorySegment)} says which files can be
   * registered.
   *
   * @param arena the arena of the memory, a shared one if another thread may close this
   * @param memory the memory
   * @param access the permitted uses, as {@link RdmaConnection#register} describes
   * @return the memory
   * @throws IllegalArgumentException if the memory is on the Java heap, is empty, or belongs to
   *     another arena; or a flag lacks another that it requires
   * @throws RdmaException if the memory cannot be registered
   */
  public NodeMemory register(Arena arena, MemorySegment memory, AccessFlag... access) {
    return register(memory, MemoryRegionConfig.of(arena, memory), () -> {}, access);
  }

  private NodeMemory register(
      MemorySegment memory, MemoryRegionConfig config, Runnable free, AccessFlag... access) {
    return state.lifetime().whileOpen(() -> new NodeMemory(state, memory, config, free, access));
  }

  /**
   * Polls in the calling thread, and then lets it sleep. This is for a program with a loop of its
   * own, to which handlers give work, and which sleeps in its own way, such as in a {@link
   * java.nio.channels.Selector}.
   *
   * <p>The thread delivers what arrives and completes itself, for at most 1 ms, which saves a
   * change of threads. It does so only if this has found something soon the last times, if no other
   * thread delivers, and if it is not a virtual thread. Then it sleeps, and the threads of the node
   * deliver. {@code ibv_poll_cq}.
   *
   * {@snippet :
   * node.pollUntil(() -> !tasks.isEmpty(), this::sleep); // handlers add tasks, and wake it up
   * }
   *
   * <p>Handlers of all connections of the node may run in the calling thread.
   *
   * @param done returns whether the program has something to do. It is called again and again while
   *     nothing else is delivered, so it must not wait
   * @param sleep sleeps until a handler wakes the thread up; not called if {@code done} returns
   *     true before. It must return immediately if a handler has tried to wake it up already
   * @throws IllegalStateException if a handler calls this, or the program drives the node: then use
   *     {@link DrivenNode#poll}
   */
  public void pollUntil(BooleanSupplier done, Runnable sleep) {
    state.pollUntil(Objects.requireNonNull(done, "done"), Objects.requireNonNull(sleep, "sleep"));
  }

  /**
   * Returns what the node has done, and what it has and uses at this moment.
   *
   * @return the numbers, for all devices together
   */
  public NodeStatistics statistics() {
    return state.statistics();
  }

  /**
   * Closes all servers and connections of the node, and everything that they share. Does not wait
   * until what was sent has arrived: close the connections before, if that matters. The waits of
   * other threads end with an IllegalStateException. Does nothing if the node is closed.
   *
   * <p>Called by a handler, it returns immediately, and the node is closed soon. Otherwise it
   * returns when everything is closed, or after {@link NodeConfig#closeTimeout} but not before 5 s;
   * the close then goes on in another thread.
   *
   * @throws RdmaException if a resource could not be destroyed; the others were closed all the same
   */
  @Override
  public void close() {
    state.close(state.lifetime());
  }

  @Override
  public String toString() {
    return state.lifetime().toString();
  }
}
