package org.rdma4j.cm;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.TimeText;

/**
 * An identifier whose steps wait for their outcomes. It has an event channel of its own. In C, this
 * is an identifier that was created without a channel; here the waiting is done in Java, so that
 * every wait has a timeout, can be interrupted, and does not hold the carrier of a virtual thread.
 *
 * <p>If a step throws an {@link RdmaException}, a TimeoutException or an InterruptedException, it
 * has closed the identifier and its queue pair: nothing is left half done. A method {@code
 * await...} returns that nothing came, and closes nothing.
 *
 * <p>All methods may be called from any thread, but only one thread should wait at a time, because
 * each event goes to one of them. A close ends the wait with an IllegalStateException.
 *
 * @see CmId
 * @see SimpleMessages
 * @see org.rdma4j.connection.RdmaConnection
 */
public final class SynchronousCmId implements AutoCloseable {
  private final EventChannel channel;
  private final CmId id;
  private final CmEvent.@Nullable ConnectRequest request;
  private volatile boolean disconnected;

  /** Precedes the caller's private data in a request to connect. */
  private final ByteBuffer connectData;

  private SynchronousCmId(
      EventChannel channel,
      CmId id,
      CmEvent.@Nullable ConnectRequest request,
      ByteBuffer connectData) {
    this.channel = channel;
    this.id = id;
    this.request = request;
    this.connectData = connectData;
  }

  /**
   * Creates an identifier: {@code rdma_create_id}.
   *
   * @param space the kind of communication
   * @return the identifier, which is neither bound nor resolved
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if it cannot be created, see {@link EventChannel#open}
   */
  public static SynchronousCmId open(PortSpace space) {
    EventChannel channel = EventChannel.open();
    try {
      return new SynchronousCmId(channel, channel.createId(space), null, PrivateData.NONE);
    } catch (RuntimeException failed) {
      channel.close();
      throw failed;
    }
  }

  /**
   * Creates an identifier for an address: {@code rdma_create_ep}. If the address is passive, the
   * identifier is bound to it; otherwise the address and the route are resolved. Create the queue
   * pair next.
   *
   * @param info the address
   * @param timeout how long that may take, up to 24 days, in milliseconds
   * @return the identifier
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the info has no address or a type that its port space does
   *     not allow, or the timeout is negative or too long
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws TimeoutException if the address or the route was not resolved in time
   * @throws RdmaException if the identifier cannot be created, bound or resolved
   */
  public static SynchronousCmId open(AddressInfo info, Duration timeout)
      throws InterruptedException, TimeoutException {
    SocketAddress address = info.passive() ? info.source() : info.destination();
    if (address == null) {
      throw new IllegalArgumentException(info + " has no address");
    }
    Deadline deadline = Deadline.after(timeout);
    EventChannel channel = EventChannel.open();
    boolean done = false;
    try {
      boolean isUsual = info.type() == info.space().queuePairType();
      SynchronousCmId opened =
          new SynchronousCmId(
              channel,
              isUsual
                  ? channel.createId(info.space())
                  : channel.createId(info.space(), info.type(), localAddress(info, address)),
              null,
              info.connectData());
      if (info.passive()) {
        if (isUsual) {
          opened.id.bind(address);
        }
      } else {
        opened.resolveAddress(info.source(), address, deadline.remaining());
        opened.resolveRoute(info.route(), deadline.remaining());
      }
      done = true;
      return opened;
    } finally {
      if (!done) {
        channel.close();
      }
    }
  }

  /** Returns what an identifier for the address is bound to before it is resolved. */
  private static SocketAddress localAddress(AddressInfo info, SocketAddress address) {
    SocketAddress source = info.source();
    return source == null ? SocketAddresses.wildcard(address) : source;
  }

  private void resolveRoute(List<PathRecord> known, Duration timeout)
      throws InterruptedException, TimeoutException {
    if (known.isEmpty()) {
      resolveRoute(timeout);
    } else {
      await(
          "rdma_set_option", () -> id.options().paths(known), CmEvent.RouteResolved.class, timeout);
    }
  }

  private static SynchronousCmId of(CmEvent.ConnectRequest request) {
    EventChannel channel;
    try {
      channel = EventChannel.open();
    } catch (RuntimeException failed) {
      request.id().close();
      throw failed;
    }
    try {
      request.id().migrate(channel);
      return new SynchronousCmId(channel, request.id(), request, PrivateData.NONE);
    } catch (RuntimeException failed) {
      request.id().close();
      channel.close();
      throw failed;
    }
  }

  /**
   * Returns the identifier, for all that needs no waiting: to bind, to listen, to reject, to create
   * the queue pair, to set options. Do not read the events of its channel.
   *
   * @return the identifier
   */
  public CmId id() {
    return id;
  }

  /**
   * Returns the request that created this identifier.
   *
   * @return what the peer sent; empty unless {@link #awaitRequest} returned this identifier
   */
  public Optional<CmEvent.ConnectRequest> request() {
    return Optional.ofNullable(request);
  }

  /**
   * Resolves the address of a peer, and binds the identifier to the device that leads there: {@code
   * rdma_resolve_addr}.
   *
   * @param peer an InetSocketAddress or an {@link IbAddress}
   * @param timeout how long that may take, up to 24 days, in milliseconds
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the address is unresolved or of another kind, or the
   *     timeout is negative or too long
   * @throws IllegalStateException if the identifier is closed, also while waiting
   * @throws TimeoutException if no host has answered to the address in time
   * @throws RdmaException if it was not resolved: ENODEV if no RDMA device leads there,
   *     EHOSTUNREACH if no host answers to the address
   */
  public void resolveAddress(SocketAddress peer, Duration timeout)
      throws InterruptedException, TimeoutException {
    resolveAddress(null, peer, timeout);
  }

  /**
   * Resolves the address of a peer as seen from a local address, and binds the identifier to that:
   * {@code rdma_resolve_addr}.
   *
   * @param local the local address; null for any
   * @param peer an InetSocketAddress or an {@link IbAddress}
   * @param timeout how long that may take, up to 24 days, in milliseconds
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if an address is unresolved or of another kind, or the timeout
   *     is negative or too long
   * @throws IllegalStateException if the identifier is closed, also while waiting
   * @throws TimeoutException if no host has answered to the address in time
   * @throws RdmaException if it was not resolved: ENODEV if no RDMA device leads there,
   *     EHOSTUNREACH if no host answers to the address
   */
  public void resolveAddress(@Nullable SocketAddress local, SocketAddress peer, Duration timeout)
      throws InterruptedException, TimeoutException {
    await(
        "rdma_resolve_addr(" + peer + ")",
        () -> id.resolveAddress(local, peer, timeout),
        CmEvent.AddressResolved.class,
        timeout);
  }

  /**
   * Resolves the route to the peer, after its address was resolved: {@code rdma_resolve_route}.
   *
   * @param timeout how long that may take, up to 24 days, in milliseconds
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative or too long
   * @throws IllegalStateException if the identifier is closed, also while waiting, or its address
   *     is not resolved
   * @throws TimeoutException if it was not resolved in time
   * @throws RdmaException if it was not resolved
   */
  public void resolveRoute(Duration timeout) throws InterruptedException, TimeoutException {
    await(
        "rdma_resolve_route(" + peer() + ")",
        () -> id.resolveRoute(timeout),
        CmEvent.RouteResolved.class,
        timeout);
  }

  /**
   * Connects to the peer, after the route was resolved and the queue pair was created: {@code
   * rdma_connect}.
   *
   * <p>The peer answers when its program accepts. A program whose JVM has just started loads its
   * classes for the first peer, which takes up to a second, and much longer on a busy machine: let
   * the timeout be long enough for that. The peer is not told if it is not, and its next step fails
   * with EINVAL.
   *
   * @param config what this side sends to the peer
   * @param timeout how long that may take, including what the peer does before it accepts
   * @return what the peer answered; in a port space of datagrams, where to send them
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative, or see {@link CmId#connect}
   * @throws IllegalStateException if the identifier is closed, also while waiting, or see {@link
   *     CmId#connect}
   * @throws ConnectionRejectedException if the peer rejected the request, or no program listens
   *     there
   * @throws TimeoutException if the peer did not answer in time
   * @throws RdmaException if connecting failed
   */
  public CmEvent.Established connect(ConnectionConfig config, Duration timeout)
      throws InterruptedException, TimeoutException {
    return connect(config, CmEvent.Established.class, timeout);
  }

  /**
   * Connects to the peer with an {@linkplain ExternalQueuePair external queue pair}: {@code
   * rdma_connect}. When this returns, bring the queue pair to READY_TO_SEND with {@link
   * ExternalQueuePair#changeTo}, then call {@link ExternalQueuePair#establish}.
   *
   * @param config what this side sends to the peer, with the number of the queue pair
   * @param timeout how long that may take
   * @return what the peer answered
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative, or see {@link CmId#connect}
   * @throws IllegalStateException if the identifier is closed, also while waiting, or see {@link
   *     CmId#connect}
   * @throws ConnectionRejectedException if the peer rejected the request, or no program listens
   *     there
   * @throws TimeoutException if the peer did not answer in time
   * @throws RdmaException if connecting failed
   */
  public CmEvent.ConnectResponse connectExternal(ConnectionConfig config, Duration timeout)
      throws InterruptedException, TimeoutException {
    return connect(config, CmEvent.ConnectResponse.class, timeout);
  }

  private <E extends CmEvent> E connect(ConnectionConfig config, Class<E> outcome, Duration timeout)
      throws InterruptedException, TimeoutException {
    return await(
        "rdma_connect(" + peer() + ")",
        () -> id.connect(withConnectData(config)),
        outcome,
        timeout);
  }

  private ConnectionConfig withConnectData(ConnectionConfig config) {
    if (!connectData.hasRemaining()) {
      return config;
    }
    ByteBuffer given = config.privateData();
    return config.privateData(
        ByteBuffer.allocate(connectData.remaining() + given.remaining())
            .put(connectData.duplicate())
            .put(given)
            .flip());
  }

  private SocketAddress peer() {
    return id.addresses().peer();
  }

  /**
   * Waits for a peer that connects to this identifier, which listens: {@code rdma_get_request}.
   * This identifier stays open whatever happens.
   *
   * <p>The peer waits only as long as its own timeout. If that is over before this side has
   * accepted, Linux does not report it: creating the queue pair, or accepting, fails with EINVAL.
   *
   * @param timeout the maximum time to wait; zero does not wait
   * @return the identifier that the request created, on a channel of its own: accept or reject it,
   *     and close it; empty if no peer came in time
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the identifier is closed, also while waiting
   * @throws RdmaException if the device was removed or a channel cannot be opened
   */
  public Optional<SynchronousCmId> awaitRequest(Duration timeout) throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    while (true) {
      Optional<CmEvent> event = channel.awaitEvent(deadline.remaining());
      if (event.isEmpty()) {
        return Optional.empty();
      }
      if (event.get() instanceof CmEvent.ConnectRequest connectRequest) {
        return Optional.of(of(connectRequest));
      }
      throwIfRemoved("rdma_get_request", event.get());
    }
  }

  /**
   * Accepts the peer, after the queue pair was created: {@code rdma_accept}. It does not wait in a
   * port space of datagrams.
   *
   * @param config what this side sends to the peer
   * @param timeout how long it may take until the connection is there
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative, or see {@link CmId#accept}
   * @throws IllegalStateException if the identifier is closed, also while waiting, or see {@link
   *     CmId#accept}
   * @throws TimeoutException if the connection was not there in time
   * @throws RdmaException if the peer had given up before (EINVAL), or accepting failed
   */
  public void accept(ConnectionConfig config, Duration timeout)
      throws InterruptedException, TimeoutException {
    if (id.portSpace().isDatagram()) {
      closeOnFailure(() -> id.accept(config));
    } else {
      await(
          "rdma_accept(" + peer() + ")",
          () -> id.accept(config),
          CmEvent.Established.class,
          timeout);
    }
  }

  /**
   * Ends the connection, and waits until the peer has ended it too: {@code rdma_disconnect}.
   *
   * @param timeout how long that may take
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the identifier is closed, also while waiting
   * @throws TimeoutException if the peer did not answer in time
   * @throws RdmaException if there is no connection
   */
  public void disconnect(Duration timeout) throws InterruptedException, TimeoutException {
    if (disconnected) {
      closeOnFailure(id::disconnect);
    } else {
      await("rdma_disconnect(" + peer() + ")", id::disconnect, CmEvent.Disconnected.class, timeout);
      disconnected = true;
    }
  }

  /**
   * Waits until the peer has ended the connection. Answer with {@link #disconnect} or {@link
   * #close}.
   *
   * @param timeout the maximum time to wait; zero does not wait
   * @return whether the peer has ended it
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the identifier is closed, also while waiting
   * @throws RdmaException if the device was removed
   */
  public boolean awaitDisconnected(Duration timeout) throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    while (!disconnected) {
      Optional<CmEvent> event = channel.awaitEvent(deadline.remaining());
      if (event.isEmpty()) {
        return false;
      }
      noteDisconnected(event.get());
    }
    return true;
  }

  /**
   * Returns whether the peer has ended the connection, as {@link #awaitDisconnected} does, but does
   * not wait, and ignores interrupts. It is for a thread that waits for other things too, with the
   * {@linkplain CmId#channel channel} of this identifier in a {@link ChannelSet}. It takes all
   * events that have come.
   *
   * @return whether the peer has ended it
   * @throws IllegalStateException if the identifier is closed
   * @throws RdmaException if the device was removed
   */
  public boolean pollDisconnected() {
    Optional<CmEvent> event = channel.pollEvent();
    while (event.isPresent()) {
      noteDisconnected(event.get());
      event = channel.pollEvent();
    }
    return disconnected;
  }

  private void noteDisconnected(CmEvent event) {
    if (event instanceof CmEvent.Disconnected) {
      disconnected = true;
    } else {
      throwIfRemoved("rdma_get_cm_event", event);
    }
  }

  /**
   * Joins a multicast group, to send and to receive: {@code rdma_join_multicast}. {@link
   * MulticastMembership#leave} leaves it.
   *
   * @param group an InetSocketAddress or an {@link IbAddress}; the port has no meaning
   * @param timeout how long that may take
   * @return where to send to the group
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative, or the address is unresolved or of
   *     another kind
   * @throws IllegalStateException if the identifier is closed, also while waiting, or has no device
   *     yet
   * @throws TimeoutException if the group was not joined in time
   * @throws RdmaException if joining failed
   */
  public CmEvent.MulticastJoined joinMulticast(SocketAddress group, Duration timeout)
      throws InterruptedException, TimeoutException {
    return await(
        "rdma_join_multicast(" + group + ")",
        () -> id.multicast().join(group),
        CmEvent.MulticastJoined.class,
        timeout);
  }

  /**
   * Joins a multicast group: {@code rdma_join_multicast_ex}. {@link MulticastMembership#leave}
   * leaves it.
   *
   * @param group an InetSocketAddress or an {@link IbAddress}; the port has no meaning
   * @param flag whether to receive as well as to send
   * @param timeout how long that may take
   * @return where to send to the group
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the timeout is negative, or the address is unresolved or of
   *     another kind
   * @throws IllegalStateException if the identifier is closed, also while waiting, or has no device
   *     yet
   * @throws TimeoutException if the group was not joined in time
   * @throws RdmaException if joining failed
   */
  public CmEvent.MulticastJoined joinMulticast(SocketAddress group, JoinFlag flag, Duration timeout)
      throws InterruptedException, TimeoutException {
    return await(
        "rdma_join_multicast_ex(" + group + ", " + flag + ")",
        () -> id.multicast().join(group, flag),
        CmEvent.MulticastJoined.class,
        timeout);
  }

  private <E extends CmEvent> E await(
      String call, Runnable begin, Class<E> outcome, Duration timeout)
      throws InterruptedException, TimeoutException {
    Deadline deadline = Deadline.after(timeout);
    try {
      closeOnFailure(begin);
    } catch (ConnectionRejectedException refused) {
      throw new ConnectionRejectedException(call); // which contains the address
    }
    try {
      while (true) {
        CmEvent event =
            channel.awaitEvent(deadline.remaining()).orElseThrow(() -> timedOut(call, timeout));
        // The kernel has the same deadline for what it resolves, and may be the first to notice it.
        if (event instanceof CmEvent.AddressFailed failure
            && failure.errno() == ErrorNumber.ETIMEDOUT.value()) {
          throw timedOut(call, timeout);
        }
        if (outcome.isInstance(event)) {
          return outcome.cast(event);
        }
        throwFailure(call, outcome, event);
      }
    } catch (RdmaException | InterruptedException | TimeoutException failed) {
      close();
      throw failed;
    }
  }

  private void closeOnFailure(Runnable call) {
    try {
      call.run();
    } catch (RdmaException failed) {
      close();
      throw failed;
    }
  }

  private static TimeoutException timedOut(String call, Duration timeout) {
    return new TimeoutException(
        call
            + ": no answer within "
            + TimeText.of(timeout)
            + ". Check that the peer is reachable, or wait longer");
  }

  /**
   * Throws if an event is the failure of what is waited for. Another failure is none of that: over
   * RoCE, Linux reports UNREACHABLE when the neighbour of a connection gets another MAC address,
   * and the connection goes on.
   */
  private static void throwFailure(String call, Class<?> outcome, CmEvent event) {
    throwIfRemoved(call, event);
    boolean connects =
        outcome == CmEvent.Established.class || outcome == CmEvent.ConnectResponse.class;
    if (connects && event instanceof CmEvent.Rejected rejected) {
      throw new ConnectionRejectedException(call, rejected);
    }
    if (connects && event instanceof CmEvent.Disconnected) {
      throw CmFailures.of(call, ErrorNumber.ECONNRESET.value());
    }
    if (event instanceof CmEvent.Failure failure
        && (connects ? isOfConnecting(failure) : outcome == missed(failure))) {
      throw CmFailures.of(call, failure.errno());
    }
  }

  private static boolean isOfConnecting(CmEvent.Failure failure) {
    return failure instanceof CmEvent.ConnectFailed || failure instanceof CmEvent.Unreachable;
  }

  /** Returns the event that a failure comes in place of. */
  private static Class<?> missed(CmEvent.Failure failure) {
    if (failure instanceof CmEvent.AddressFailed) {
      return CmEvent.AddressResolved.class;
    }
    if (failure instanceof CmEvent.RouteFailed) {
      return CmEvent.RouteResolved.class;
    }
    return failure instanceof CmEvent.MulticastFailed
        ? CmEvent.MulticastJoined.class
        : CmEvent.Established.class;
  }

  private static void throwIfRemoved(String call, CmEvent event) {
    if (event instanceof CmEvent.DeviceRemoved) {
      throw CmFailures.of(call, ErrorNumber.ENODEV.value());
    }
  }

  /**
   * Ends the wait, and closes the identifier with its queue pair, then its channel. Does nothing if
   * the identifier is closed.
   *
   * @throws RdmaException if a destruction failed; the other steps are done all the same
   */
  @Override
  public void close() {
    channel.close();
  }

  @Override
  public String toString() {
    return id.toString();
  }
}
