package org.rdma4j.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmDevices;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * What the connections and servers of a process share: for each device that they use, a protection
 * domain, registered buffers, a shared receive queue and a few completion queues, each with a
 * thread; and one thread for the events of the connection manager. Memory and file descriptors grow
 * with the traffic, not with the number of connections.
 *
 * <p>{@link RdmaServer#bind} and {@link RdmaConnection#connect} use the node that {@link #shared}
 * returns. A program opens one of its own for other buffers or limits, or to close everything
 * together.
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

  private RdmaNode(NodeConfig config) {
    // The threads of the node would meet a null much later.
    this.state = new NodeState(Objects.requireNonNull(config, "config"));
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
    return new RdmaNode(config);
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
   * @throws IllegalStateException if the node is closed
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
   * @throws IllegalStateException if the node is closed
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
   * @throws IllegalStateException if the node is closed
   * @throws org.rdma4j.cm.ConnectionRejectedException if nothing listens at that address, or what
   *     listens rejects the connection
   * @throws RdmaException if the address cannot be reached over RDMA (also if nothing answers),
   *     belongs to another program (EPROTO), or a resource is not available
   */
  public RdmaConnection connect(InetSocketAddress server) throws InterruptedException {
    return Connecting.untilDone(state, null, server);
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
   * @throws IllegalStateException if the node is closed
   * @throws org.rdma4j.cm.ConnectionRejectedException if nothing listens at that address, or what
   *     listens rejects the connection
   * @throws RdmaException if the address cannot be reached over RDMA, belongs to another program
   *     (EPROTO), or a resource is not available
   */
  public RdmaConnection connect(InetSocketAddress server, Duration timeout)
      throws InterruptedException, TimeoutException {
    return Connecting.within(state, null, server, timeout);
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
   * @throws IllegalStateException if the node is closed
   * @throws org.rdma4j.cm.ConnectionRejectedException if nothing listens at that address, or what
   *     listens rejects the connection
   * @throws RdmaException if the address cannot be reached over RDMA from there, belongs to another
   *     program (EPROTO), or a resource is not available
   */
  public RdmaConnection connect(InetSocketAddress local, InetSocketAddress server, Duration timeout)
      throws InterruptedException, TimeoutException {
    return Connecting.within(state, local, server, timeout);
  }

  /**
   * Allocates and registers memory for all connections of this node, on a machine with one RDMA
   * device. If there are several, use {@link RdmaConnection#register}.
   *
   * @param bytes the length, at least 1
   * @param access the permitted uses, as {@link RdmaConnection#register} describes
   * @return the region, which is closed with the node
   * @throws IllegalArgumentException if the length is out of range, or a flag lacks one that it
   *     requires
   * @throws IllegalStateException if the node is closed, or there is not exactly one device
   * @throws RdmaException if the memory cannot be registered
   */
  public MemoryRegion register(long bytes, AccessFlag... access) {
    List<RdmaDevice> devices = CmDevices.list();
    if (devices.size() != 1) {
      throw new IllegalStateException(
          "this machine has "
              + devices.size()
              + " RDMA devices: register the memory with RdmaConnection.register");
    }
    return register(
        state.share(devices.getFirst()).domain(), MemoryRegionConfig.allocate(bytes), access);
  }

  /** Registers memory that a program may drop without closing it: the node closes it. */
  static MemoryRegion register(
      ProtectionDomain domain, MemoryRegionConfig config, AccessFlag... access) {
    MemoryRegion region = domain.register(config.access(access));
    VerbsAccess.get().lifetime(region).leaveToParent();
    return region;
  }

  /**
   * Returns what the node has and uses at this moment.
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
   * <p>Called by a handler, it returns at once, and the node is closed soon. Otherwise it returns
   * when everything is closed, or after {@link NodeConfig#closeTimeout} but not before 5 s; the
   * close then goes on in another thread.
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
