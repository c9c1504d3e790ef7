package org.rdma4j.cm;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.rdma_cm_id;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.TimeText;
import org.rdma4j.verbs.AsyncEventType;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.QueuePairType;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * A communication identifier, {@code struct rdma_cm_id}: the connection manager's counterpart of a
 * socket. {@link EventChannel#createId} creates identifiers, and so does each request to connect.
 *
 * <p>This class has the steps of a connection. Each begins something and returns; an event of the
 * {@link #channel} reports the outcome. {@link SynchronousCmId} has the same steps and waits for
 * their outcomes. What not every program needs is in objects of its own: {@link #options}, {@link
 * #addresses}, {@link #multicast} and {@link #externalQueuePair}.
 *
 * <p>All methods may be called from any thread.
 *
 * @see EventChannel#createId
 * @see SynchronousCmId
 * @see ConnectionConfig
 */
public final class CmId implements AutoCloseable {
  private static final Duration MAX_TIMEOUT = Duration.ofMillis(Integer.MAX_VALUE);

  private final NativeId id;
  private final PortSpace space;
  private final QueuePairType type;
  private final ManagedQueuePair queuePair;
  private volatile EventChannel channel;

  /** The device as it was last asked for: null before that, and outdated once it is closed. */
  private volatile @Nullable RdmaDevice device;

  CmId(EventChannel channel, NativeId id, PortSpace space, QueuePairType type) {
    this.channel = channel;
    this.id = id;
    this.space = space;
    this.type = type;
    this.queuePair = new ManagedQueuePair(id, type);
  }

  /**
   * Binds the identifier to a local address: {@code rdma_bind_addr}. The wildcard address binds it
   * to all devices, and so does a loopback address, such as 127.0.0.1: what listens there can be
   * reached from the network.
   *
   * @param local an InetSocketAddress or an {@link IbAddress}; with port 0, the system chooses one
   * @throws IllegalArgumentException if the address is unresolved or of another kind
   * @throws RdmaException if it cannot be bound: EADDRINUSE if the port is in use, or EADDRNOTAVAIL
   *     if one of the two addresses is the wildcard; EADDRNOTAVAIL if no network interface has that
   *     address; ENODEV if no RDMA device has it
   */
  public void bind(SocketAddress local) {
    SocketAddresses.check(local);
    id.call(
        "rdma_bind_addr(" + local + ")",
        (pointer, arena) ->
            Calls.integer(
                rdma_h.rdma_bind_addr$address(), pointer, SocketAddresses.write(local, arena)));
  }

  /**
   * Listens for peers: {@code rdma_listen}. A {@link CmEvent.ConnectRequest} comes for each peer
   * that connects.
   *
   * @param backlog the maximum number of requests that wait until their events are read; 0 lets the
   *     system choose
   * @throws IllegalArgumentException if the backlog is negative
   * @throws RdmaException if it cannot listen
   */
  public void listen(int backlog) {
    Range.check("backlog", backlog, 0, Integer.MAX_VALUE);
    id.call(
        "rdma_listen",
        (pointer, arena) -> Calls.integer(rdma_h.rdma_listen$address(), pointer, backlog));
  }

  /**
   * Resolves the address of a peer, and binds the identifier to the device that leads there: {@code
   * rdma_resolve_addr}. {@link CmEvent.AddressResolved} or {@link CmEvent.AddressFailed} reports
   * the outcome.
   *
   * @param peer an InetSocketAddress or an {@link IbAddress}
   * @param timeout how long that may take, up to 24 days, in milliseconds
   * @throws IllegalArgumentException if the address is unresolved or of another kind, or the
   *     timeout is negative or too long
   * @throws RdmaException if resolving cannot begin: ENODEV if no RDMA device leads there
   */
  public void resolveAddress(SocketAddress peer, Duration timeout) {
    resolveAddress(null, peer, timeout);
  }

  /**
   * Resolves the address of a peer as seen from a local address, and binds the identifier to that:
   * {@code rdma_resolve_addr}. {@link CmEvent.AddressResolved} or {@link CmEvent.AddressFailed}
   * reports the outcome.
   *
   * @param local the local address; null for any
   * @param peer an InetSocketAddress or an {@link IbAddress}
   * @param timeout how long that may take, up to 24 days, in milliseconds
   * @throws IllegalArgumentException if an address is unresolved or of another kind, or the timeout
   *     is negative or too long
   * @throws RdmaException if resolving cannot begin: ENODEV if no RDMA device leads there
   */
  public void resolveAddress(@Nullable SocketAddress local, SocketAddress peer, Duration timeout) {
    if (local != null) {
      SocketAddresses.check(local);
    }
    SocketAddresses.check(peer);
    int milliseconds = milliseconds(timeout);
    id.call(
        "rdma_resolve_addr(" + peer + ")",
        (pointer, arena) ->
            Calls.integer(
                rdma_h.rdma_resolve_addr$address(),
                pointer,
                local == null ? MemorySegment.NULL : SocketAddresses.write(local, arena),
                SocketAddresses.write(peer, arena),
                milliseconds));
  }

  /** Rounds up, so that only a timeout of 0 becomes 0. */
  private static int milliseconds(Duration timeout) {
    if (timeout.isNegative() || timeout.compareTo(MAX_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "timeout is " + TimeText.of(timeout) + ", must be from 0 to " + TimeText.of(MAX_TIMEOUT));
    }
    return (int) timeout.plusNanos(999_999).toMillis();
  }

  /**
   * Resolves the route to the peer, after its address was resolved: {@code rdma_resolve_route}.
   * {@link CmEvent.RouteResolved} or {@link CmEvent.RouteFailed} reports the outcome.
   *
   * @param timeout how long that may take, up to 24 days, in milliseconds; 0 counts as 1
   * @throws IllegalArgumentException if the timeout is negative or too long
   * @throws IllegalStateException if the identifier is closed or its address is not resolved
   * @throws RdmaException if resolving cannot begin
   */
  public void resolveRoute(Duration timeout) {
    // The kernel answers 0 with EINVAL, which would mislead a caller whose time has run out.
    int milliseconds = Math.max(1, milliseconds(timeout));
    id.call(
        "rdma_resolve_route(" + addresses().peer() + ")",
        (pointer, arena) -> {
          id.requireDevice();
          return Calls.integer(rdma_h.rdma_resolve_route$address(), pointer, milliseconds);
        });
  }

  /**
   * Connects to the peer, after the route was resolved and the queue pair was created: {@code
   * rdma_connect}. {@link CmEvent.Established}, {@link CmEvent.Rejected}, {@link
   * CmEvent.Unreachable} or {@link CmEvent.ConnectFailed} reports the outcome. If the peer accepts
   * and the queue pair is an {@link #externalQueuePair}, {@link CmEvent.ConnectResponse} comes
   * instead of {@link CmEvent.Established}.
   *
   * @param config what this side sends to the peer
   * @throws IllegalArgumentException if the private data is longer than {@link
   *     PortSpace#maxConnectBytes}
   * @throws IllegalStateException if the identifier is closed, its address is not resolved, or
   *     there is neither a queue pair nor the number of an external one in the config
   * @throws RdmaException if connecting cannot begin: EINVAL if the route is not resolved, or if
   *     the config asks for more reads and atomics than the device offers
   */
  public void connect(ConnectionConfig config) {
    PrivateData.check(config.privateData(), space, space.maxConnectBytes());
    id.call(
        "rdma_connect",
        (pointer, arena) -> {
          id.requireDevice();
          if (!space.isDatagram()) {
            requireQueuePair(config);
          }
          return Calls.integer(rdma_h.rdma_connect$address(), pointer, config.write(arena));
        });
  }

  /**
   * Accepts the peer whose request created this identifier: {@code rdma_accept}. {@link
   * CmEvent.Established} reports that the connection is established. No event follows in a port
   * space of datagrams.
   *
   * @param config what this side sends to the peer. {@link ConnectionConfig#DEVICE_MAXIMUM} grants
   *     what the peer asked for, as far as the device can
   * @throws IllegalArgumentException if the private data is longer than {@link
   *     PortSpace#maxAcceptBytes}
   * @throws IllegalStateException if the identifier is closed, was not created by a request, or
   *     there is neither a queue pair nor the number of an external one in the config
   * @throws RdmaException if the peer cannot be accepted, for example because it gave up
   */
  public void accept(ConnectionConfig config) {
    PrivateData.check(config.privateData(), space, space.maxAcceptBytes());
    id.call(
        "rdma_accept",
        (pointer, arena) -> {
          id.requireDevice();
          requireQueuePair(config);
          int result = Calls.integer(rdma_h.rdma_accept$address(), pointer, config.write(arena));
          if (!space.isDatagram()) {
            queuePair.noteState(result == 0 ? QueuePairState.READY_TO_SEND : QueuePairState.ERROR);
          }
          return result;
        });
  }

  private void requireQueuePair(ConnectionConfig config) {
    if (!id.hasQueuePair() && config.queuePairNumber() == 0) {
      throw new IllegalStateException(
          this
              + " has no queue pair: create one, or give the number of an external one with"
              + " ConnectionConfig.queuePairNumber");
    }
  }

  /**
   * Rejects the peer whose request created this identifier: {@code rdma_reject}. Close the
   * identifier afterwards.
   *
   * @param privateData what this side sends to the peer: the bytes from the position to the limit
   * @throws IllegalArgumentException if they are more than {@link PortSpace#maxRejectBytes()}
   * @throws RdmaException if there is nothing to reject
   */
  public void reject(ByteBuffer privateData) {
    reject("rdma_reject", rdma_h.rdma_reject$address(), privateData);
  }

  /**
   * Rejects the peer whose request created this identifier because its {@link
   * ExternalQueuePair#remoteEce} does not fit: {@code rdma_reject_ece}. Close the identifier
   * afterwards.
   *
   * @param privateData what this side sends to the peer: the bytes from the position to the limit
   * @throws IllegalArgumentException if they are more than {@link PortSpace#maxRejectBytes()}
   * @throws RdmaException if there is nothing to reject
   */
  public void rejectEce(ByteBuffer privateData) {
    reject("rdma_reject_ece", rdma_h.rdma_reject_ece$address(), privateData);
  }

  private void reject(String name, MemorySegment function, ByteBuffer privateData) {
    PrivateData.check(privateData, space, space.maxRejectBytes());
    id.call(
        name,
        (pointer, arena) ->
            Calls.integer(
                function,
                pointer,
                PrivateData.write(privateData, arena),
                (byte) privateData.remaining()));
  }

  /**
   * Ends the connection: {@code rdma_disconnect}. The queue pair changes to ERROR immediately;
   * {@link CmEvent.Disconnected} comes on both sides.
   *
   * @throws IllegalStateException if the identifier is closed or has no device yet
   * @throws RdmaException if there is no connection
   */
  public void disconnect() {
    id.call(
        "rdma_disconnect",
        (pointer, arena) -> {
          id.requireDevice();
          queuePair.noteState(QueuePairState.ERROR);
          return Calls.integer(rdma_h.rdma_disconnect$address(), pointer);
        });
  }

  /**
   * Moves the identifier and its unread events to another channel: {@code rdma_migrate_id}. From
   * then on the identifier is closed when that channel is closed.
   *
   * @param to the channel
   * @throws RdmaException if it cannot be moved
   */
  public void migrate(EventChannel to) {
    Lifetime.whileAllOpen(
        List.of(id.lifetime(), to.lifetime()),
        () -> {
          id.migrate(this, to);
          return true;
        });
  }

  /** Notes the channel to which it was moved. The caller holds the locks of both channels. */
  void moved(EventChannel to) {
    EventChannel from = channel;
    channel = to;
    if (from != to) {
      id.lifetime().dependOn(to.lifetime());
      id.lifetime().dependNoMoreOn(from.lifetime());
    }
  }

  /**
   * Writes an event that this identifier's channel then delivers, for example to wake the thread
   * that reads its events: {@code rdma_write_cm_event}.
   *
   * @param status any number
   * @param argument any other number
   * @throws org.rdma4j.UnsupportedByDeviceException if rdma-core is older than 60
   * @throws RdmaException if the event cannot be written: EINVAL if the kernel does not support it
   * @see CmEvent.Written
   */
  public void writeEvent(int status, long argument) {
    id.call(
        "rdma_write_cm_event",
        (pointer, arena) -> {
          NativeFailures.requireFunction(null, "rdma_write_cm_event", 60);
          return Calls.integer(
              rdma_h.rdma_write_cm_event$address(),
              pointer,
              rdma_h.RDMA_CM_EVENT_USER(),
              status,
              argument);
        });
  }

  /**
   * Passes an asynchronous event of the device on to the connection manager: {@code rdma_notify}.
   * Use it with {@link AsyncEventType#COMMUNICATION_ESTABLISHED}, which says that a message arrived
   * before {@link CmEvent.Established}.
   *
   * @param event the type of the event
   * @throws IllegalStateException if the identifier is closed or has no device yet
   * @throws RdmaException if the state of the connection does not allow it
   */
  public void notifyOf(AsyncEventType event) {
    id.call(
        "rdma_notify(" + event + ")",
        (pointer, arena) -> {
          id.requireDevice();
          return Calls.integer(rdma_h.rdma_notify$address(), pointer, event.value());
        });
  }

  /**
   * Creates the queue pair of this identifier: {@code rdma_create_qp_ex}, which does the same as
   * {@code rdma_create_qp} unless the configuration is an extended one. The queue pair is in state
   * INIT, so that receives can be posted before the peer sends, or in READY_TO_SEND in a port space
   * of datagrams. The connection manager changes its state from then on. Closing the queue pair,
   * {@code rdma_destroy_qp}, leaves the multicast groups of the identifier.
   *
   * @param domain a protection domain of {@link #device}
   * @param config the queues of the queue pair and their capacities
   * @return the queue pair, which is closed when this identifier is closed
   * @throws IllegalArgumentException if the domain belongs to another device, the type is not that
   *     of {@link #queuePairType}, the device does not offer a capacity, or a completion queue
   *     cannot hold the completions of all queue pairs that use it
   * @throws IllegalStateException if the identifier, the domain or a completion queue is closed, or
   *     if the identifier has no device yet or already has a queue pair
   * @throws RdmaException if it cannot be created
   */
  public QueuePair createQueuePair(ProtectionDomain domain, QueuePairConfig config) {
    return queuePair.create(device(), domain, config);
  }

  /**
   * Returns the queue pair that {@link #createQueuePair} created.
   *
   * @return the queue pair; empty if there is none or it was closed
   */
  public Optional<QueuePair> queuePair() {
    return queuePair.get();
  }

  /**
   * Returns the search for InfiniBand services by their names: {@code rdma_resolve_addrinfo}.
   *
   * @return the search
   */
  public CmIdService service() {
    return new CmIdService(id, space, type);
  }

  /**
   * Returns the options of this identifier: {@code rdma_set_option}.
   *
   * @return the options, to be set
   */
  public CmIdOptions options() {
    return new CmIdOptions(id);
  }

  /**
   * Returns the multicast groups of this identifier: {@code rdma_join_multicast}.
   *
   * @return the groups, to be joined and left
   */
  public MulticastMembership multicast() {
    return id.multicast();
  }

  /**
   * Returns the steps of connecting a queue pair that was created by {@link
   * ProtectionDomain#createQueuePair}: {@code rdma_init_qp_attr}, {@code rdma_establish}.
   *
   * @return the steps
   */
  public ExternalQueuePair externalQueuePair() {
    return new ExternalQueuePair(id);
  }

  /**
   * Returns the kind of communication.
   *
   * @return the port space
   */
  public PortSpace portSpace() {
    return space;
  }

  /**
   * Returns the type of the queue pairs that this identifier can have.
   *
   * @return the type: that of the port space, or the type that {@link
   *     EventChannel#createId(PortSpace, QueuePairType, SocketAddress)} got. Requests to connect
   *     have the type of their listener
   */
  public QueuePairType queuePairType() {
    return type;
  }

  /**
   * Returns the channel on which the events of this identifier arrive.
   *
   * @return the channel
   */
  public EventChannel channel() {
    return channel;
  }

  /**
   * Returns whether the identifier is bound to a device. Resolving an address binds it to one, and
   * so does binding it to an address other than the wildcard address.
   *
   * @return whether {@link #device} returns one
   */
  public boolean hasDevice() {
    return id.query(pointer -> id.hasDevice());
  }

  /**
   * Returns the device to which the identifier is bound: {@code rdma_cm_id.verbs}. All identifiers
   * of a device return the same object, so do not close it while others use it.
   *
   * @return the device, to create protection domains and completion queues
   * @throws IllegalStateException if the identifier is closed or has no device yet
   * @throws RdmaException if the device was removed
   */
  public RdmaDevice device() {
    return id.lifetime()
        .whileOpen(
            () -> {
              RdmaDevice known = device;
              if (known == null || !VerbsAccess.get().lifetime(known).isOpen()) {
                known = CmDevices.of(context());
                device = known;
              }
              return known;
            });
  }

  private MemorySegment context() {
    return id.exclusively(
        () -> {
          id.requireDevice();
          return rdma_cm_id.verbs(id.pointer());
        });
  }

  /**
   * Returns the port of the device to which the identifier is bound: {@code rdma_cm_id.port_num}.
   *
   * @return the port, from 1; 0 if the identifier is not bound to a device
   */
  public int port() {
    return id.query(pointer -> Byte.toUnsignedInt(rdma_cm_id.port_num(pointer)));
  }

  /**
   * Returns the addresses of both sides, of any kind, with their GIDs.
   *
   * @return the addresses as they are now
   */
  public CmIdAddresses addresses() {
    return id.query(CmIdAddresses::read);
  }

  /**
   * Returns the local IP address and port: {@code rdma_get_local_addr}, {@code rdma_get_src_port}.
   *
   * @return the address; the wildcard address and port 0 if the identifier is not bound
   * @throws IllegalStateException if the identifier is closed, or has an {@link IbAddress}, which
   *     {@link #addresses} returns
   */
  public InetSocketAddress localAddress() {
    return inet(addresses().local(), "local");
  }

  /**
   * Returns the peer's IP address and port: {@code rdma_get_peer_addr}, {@code rdma_get_dst_port}.
   *
   * @return the address; the wildcard address and port 0 if no address was resolved
   * @throws IllegalStateException if the identifier is closed, or has an {@link IbAddress}, which
   *     {@link #addresses} returns
   */
  public InetSocketAddress peerAddress() {
    return inet(addresses().peer(), "peer");
  }

  private InetSocketAddress inet(SocketAddress address, String side) {
    if (address instanceof InetSocketAddress inet) {
      return inet;
    }
    throw new IllegalStateException(
        "the %1$s address of %2$s is %3$s of InfiniBand, call addresses().%1$s()"
            .formatted(side, this, address));
  }

  /**
   * Returns the {@code struct rdma_cm_id *}, to call the bindings directly. It is valid until this
   * identifier is closed. This library cannot protect calls that are made with it: they may crash
   * the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return id.query(pointer -> pointer);
  }

  /**
   * Closes the queue pair, leaves the multicast groups, then destroys the identifier: {@code
   * rdma_destroy_id}. Steps in progress are cancelled and unread events are discarded. A connection
   * ends, which {@link CmEvent.Disconnected} reports to the peer. Does nothing if the identifier is
   * closed.
   *
   * @throws RdmaException if a destruction failed; the other steps are done all the same
   */
  @Override
  public void close() {
    id.lifetime().close();
  }

  ManagedQueuePair managedQueuePair() {
    return queuePair;
  }

  boolean isOpen() {
    return id.lifetime().isOpen();
  }

  @Override
  public String toString() {
    return id.toString();
  }
}
