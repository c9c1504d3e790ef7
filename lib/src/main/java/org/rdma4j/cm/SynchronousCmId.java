package org.rdma4j.cm;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.platform.Deadline;

/**
 * An identifier on a channel of its own, each of whose calls waits for what it leads to: what
 * librdmacm makes where it is given no channel. It waits in Java all the same, so that each wait
 * has a timeout, can be interrupted, and holds no virtual thread's carrier.
 *
 * <p>Where such a call throws an {@link RdmaException} or an InterruptedException, it has closed
 * the identifier, its queue pair included: what was begun is off, and nothing of it is left.
 *
 * <p>All methods may be called from any thread, but only one thread should wait at a time: an event
 * goes to one of them. A close ends the wait with an IllegalStateException.
 */
public final class SynchronousCmId implements AutoCloseable {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final EventChannel channel;
  private final CmId id;
  private final CmEvent.@Nullable ConnectRequest request;
  private volatile boolean disconnected;

  /** What precedes the private data of a request to connect. */
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
   * Creates one: {@code rdma_create_id}.
   *
   * @param space what kind of communication it is for
   * @return the identifier, neither bound nor resolved
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where it cannot be created, as {@link EventChannel#open} says
   */
  public static SynchronousCmId open(PortSpace space) {
    EventChannel channel = EventChannel.open();
    try {
      return new SynchronousCmId(channel, channel.createId(space), null, NOTHING);
    } catch (RuntimeException failed) {
      channel.close();
      throw failed;
    }
  }

  /**
   * Creates one for an address: {@code rdma_create_ep}. One to listen on is bound to it; for one to
   * connect to, the address and the route are resolved. The queue pair is to be created next.
   *
   * @param info the address
   * @param timeout how long that may take, to 24 days, in milliseconds
   * @return the identifier
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where it has no address, or the timeout is negative or too
   *     long
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws RdmaException where it cannot be created, bound or resolved
   */
  public static SynchronousCmId open(AddressInfo info, Duration timeout)
      throws InterruptedException {
    SocketAddress address = info.passive() ? info.source() : info.destination();
    if (address == null) {
      throw new IllegalArgumentException(info + " has no address");
    }
    Deadline deadline = Deadline.after(timeout);
    EventChannel channel = EventChannel.open();
    boolean done = false;
    try {
      SynchronousCmId opened =
          new SynchronousCmId(channel, channel.createId(info.space()), null, info.connectData());
      if (info.passive()) {
        opened.id.bind(address);
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

  private void resolveRoute(List<PathRecord> known, Duration timeout) throws InterruptedException {
    if (known.isEmpty()) {
      resolveRoute(timeout);
    } else {
      await("rdma_set_option", () -> id.paths(known), CmEvent.RouteResolved.class, timeout);
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
      return new SynchronousCmId(channel, request.id(), request, NOTHING);
    } catch (RuntimeException failed) {
      request.id().close();
      channel.close();
      throw failed;
    }
  }

  /**
   * The identifier, for what needs no waiting: to bind, to listen, to reject, to make the queue
   * pair of, to set options. Do not read the events of its channel.
   *
   * @return the identifier
   */
  public CmId id() {
    return id;
  }

  /**
   * The request that it came with.
   *
   * @return what the peer told; empty where {@link #awaitRequest} did not make this
   */
  public Optional<CmEvent.ConnectRequest> request() {
    return Optional.ofNullable(request);
  }

  /**
   * Resolves the address of a peer: {@code rdma_resolve_addr}.
   *
   * @param peer an InetSocketAddress or an {@link IbAddress}
   * @param timeout how long that may take, to 24 days, in milliseconds
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the address is unresolved or of another kind, or the
   *     timeout negative or too long
   * @throws IllegalStateException where the identifier is closed, also while waiting
   * @throws RdmaException where it was not resolved: ENODEV where no RDMA device leads there,
   *     EHOSTUNREACH or ETIMEDOUT where nobody answers to the address
   */
  public void resolveAddress(SocketAddress peer, Duration timeout) throws InterruptedException {
    resolveAddress(null, peer, timeout);
  }

  /**
   * Resolves the address of a peer, from a local address: {@code rdma_resolve_addr}.
   *
   * @param local the address to bind to; null where any will do
   * @param peer an InetSocketAddress or an {@link IbAddress}
   * @param timeout how long that may take, to 24 days, in milliseconds
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where an address is unresolved or of another kind, or the
   *     timeout negative or too long
   * @throws IllegalStateException where the identifier is closed, also while waiting
   * @throws RdmaException where it was not resolved, as said above
   */
  public void resolveAddress(@Nullable SocketAddress local, SocketAddress peer, Duration timeout)
      throws InterruptedException {
    await(
        "rdma_resolve_addr(" + peer + ")",
        () -> id.resolveAddress(local, peer, timeout),
        CmEvent.AddressResolved.class,
        timeout);
  }

  /**
   * Resolves the route to the peer, once its address is: {@code rdma_resolve_route}.
   *
   * @param timeout how long that may take, to 24 days, in milliseconds
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative or too long
   * @throws IllegalStateException where the identifier is closed, also while waiting, or its
   *     address is not resolved
   * @throws RdmaException where it was not resolved in time
   */
  public void resolveRoute(Duration timeout) throws InterruptedException {
    await(
        "rdma_resolve_route", () -> id.resolveRoute(timeout), CmEvent.RouteResolved.class, timeout);
  }

  /**
   * Connects to the peer, once the route is resolved and the queue pair created: {@code
   * rdma_connect}.
   *
   * @param parameters what the peer is told
   * @param timeout how long that may take
   * @return what the peer told; for datagrams, where to send them
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative, or as {@link CmId#connect} says
   * @throws IllegalStateException where the identifier is closed, also while waiting, or as {@link
   *     CmId#connect} says
   * @throws ConnectionRejectedException where the peer rejected it, or nobody listens there
   * @throws RdmaException where it was not made in time (ETIMEDOUT), or failed
   */
  public CmEvent.Established connect(ConnectionParameters parameters, Duration timeout)
      throws InterruptedException {
    return await(
        "rdma_connect(" + peer() + ")",
        () -> id.connect(preceded(parameters)),
        CmEvent.Established.class,
        timeout);
  }

  /**
   * Connects to the peer with a queue pair of one's own: {@code rdma_connect}. Bring that queue
   * pair to READY_TO_SEND with {@link CmId#initQueuePairAttributes} once this returns, then call
   * {@link CmId#establish}.
   *
   * @param parameters what the peer is told, the number of the queue pair among it
   * @param timeout how long that may take
   * @return what the peer told
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative, or as {@link CmId#connect} says
   * @throws IllegalStateException where the identifier is closed, also while waiting, or as {@link
   *     CmId#connect} says
   * @throws ConnectionRejectedException where the peer rejected it, or nobody listens there
   * @throws RdmaException where it was not accepted in time (ETIMEDOUT), or failed
   */
  public CmEvent.ConnectResponse request(ConnectionParameters parameters, Duration timeout)
      throws InterruptedException {
    return await(
        "rdma_connect(" + peer() + ")",
        () -> id.connect(preceded(parameters)),
        CmEvent.ConnectResponse.class,
        timeout);
  }

  private ConnectionParameters preceded(ConnectionParameters parameters) {
    if (!connectData.hasRemaining()) {
      return parameters;
    }
    ByteBuffer given = parameters.privateData();
    return parameters.privateData(
        ByteBuffer.allocate(connectData.remaining() + given.remaining())
            .put(connectData.duplicate())
            .put(given)
            .flip());
  }

  private SocketAddress peer() {
    return id.peerSocketAddress();
  }

  /**
   * Waits for a peer that wants to connect, on an identifier that listens: {@code
   * rdma_get_request}. This one stays open whatever happens.
   *
   * @param timeout how long to wait at most; zero looks and does not wait
   * @return the identifier that came with the request, on a channel of its own, to {@link #accept}
   *     or to reject, and to close; empty where no peer came within that time
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative
   * @throws IllegalStateException where the identifier is closed, also while waiting
   * @throws RdmaException where the device is gone, or a channel cannot be had
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
      throwFailure("rdma_get_request", event.get());
    }
  }

  /**
   * Accepts the peer, once the queue pair is created: {@code rdma_accept}. For datagrams it does
   * not wait.
   *
   * @param parameters what the peer is told
   * @param timeout how long it may take until the connection is there
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative, or as {@link CmId#accept} says
   * @throws IllegalStateException where the identifier is closed, also while waiting, or as {@link
   *     CmId#accept} says
   * @throws RdmaException where it was not there in time (ETIMEDOUT), or failed
   */
  public void accept(ConnectionParameters parameters, Duration timeout)
      throws InterruptedException {
    if (id.portSpace().isDatagram()) {
      closeOnFailure(() -> id.accept(parameters));
    } else {
      await(
          "rdma_accept(" + peer() + ")",
          () -> id.accept(parameters),
          CmEvent.Established.class,
          timeout);
    }
  }

  /**
   * Ends the connection, and waits until the peer has ended it too: {@code rdma_disconnect}.
   *
   * @param timeout how long that may take
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative
   * @throws IllegalStateException where the identifier is closed, also while waiting
   * @throws RdmaException where the peer did not answer in time (ETIMEDOUT), or there is no
   *     connection
   */
  public void disconnect(Duration timeout) throws InterruptedException {
    if (disconnected) {
      closeOnFailure(id::disconnect);
    } else {
      await("rdma_disconnect(" + peer() + ")", id::disconnect, CmEvent.Disconnected.class, timeout);
      disconnected = true;
    }
  }

  /**
   * Waits until the peer has ended the connection. {@link #disconnect}, or a close, answers it.
   *
   * @param timeout how long to wait at most; zero looks and does not wait
   * @return whether it has
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative
   * @throws IllegalStateException where the identifier is closed, also while waiting
   * @throws RdmaException where the device is gone
   */
  public boolean awaitDisconnected(Duration timeout) throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    while (!disconnected) {
      Optional<CmEvent> event = channel.awaitEvent(deadline.remaining());
      if (event.isEmpty()) {
        return false;
      }
      if (event.get() instanceof CmEvent.Disconnected) {
        disconnected = true;
      } else {
        throwFailure("rdma_get_cm_event", event.get());
      }
    }
    return true;
  }

  /**
   * Joins a multicast group, to send and to receive: {@code rdma_join_multicast}.
   *
   * @param group an InetSocketAddress or an {@link IbAddress}; the port is of no meaning
   * @param timeout how long that may take
   * @return where to send to the group
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative, or the address unresolved or of
   *     another kind
   * @throws IllegalStateException where the identifier is closed, also while waiting, or has no
   *     device yet
   * @throws RdmaException where it was not joined in time (ETIMEDOUT), or at all
   */
  public CmEvent.MulticastJoined joinMulticast(SocketAddress group, Duration timeout)
      throws InterruptedException {
    return await(
        "rdma_join_multicast(" + group + ")",
        () -> id.joinMulticast(group),
        CmEvent.MulticastJoined.class,
        timeout);
  }

  /**
   * Joins a multicast group: {@code rdma_join_multicast_ex}.
   *
   * @param group an InetSocketAddress or an {@link IbAddress}; the port is of no meaning
   * @param flag as what
   * @param timeout how long that may take
   * @return where to send to the group
   * @throws InterruptedException where the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException where the timeout is negative, or the address unresolved or of
   *     another kind
   * @throws IllegalStateException where the identifier is closed, also while waiting, or has no
   *     device yet
   * @throws RdmaException where it was not joined in time (ETIMEDOUT), or at all
   */
  public CmEvent.MulticastJoined joinMulticast(SocketAddress group, JoinFlag flag, Duration timeout)
      throws InterruptedException {
    return await(
        "rdma_join_multicast_ex(" + group + ", " + flag + ")",
        () -> id.joinMulticast(group, flag),
        CmEvent.MulticastJoined.class,
        timeout);
  }

  private <E extends CmEvent> E await(
      String call, Runnable begin, Class<E> wanted, Duration timeout) throws InterruptedException {
    Deadline deadline = Deadline.after(timeout);
    closeOnFailure(begin);
    try {
      while (true) {
        CmEvent event = channel.awaitEvent(deadline.remaining()).orElseThrow(() -> late(call));
        if (wanted.isInstance(event)) {
          return wanted.cast(event);
        }
        throwFailure(call, event);
      }
    } catch (RdmaException | InterruptedException failed) {
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

  private static RdmaException late(String call) {
    return new RdmaException(
        call, ErrorNumber.ETIMEDOUT.value(), "The peer did not answer within the timeout given");
  }

  private static void throwFailure(String call, CmEvent event) {
    if (event instanceof CmEvent.Rejected rejected) {
      throw new ConnectionRejectedException(call, rejected);
    }
    if (event instanceof CmEvent.Failure failure) {
      throw Cm.failure(call, failure.errno());
    }
    if (event instanceof CmEvent.Disconnected) {
      throw Cm.failure(call, ErrorNumber.ECONNRESET.value());
    }
    if (event instanceof CmEvent.DeviceRemoved) {
      throw Cm.failure(call, ErrorNumber.ENODEV.value());
    }
  }

  /**
   * Ends the wait, and closes the identifier with its queue pair, then its channel. Does nothing
   * where it is closed.
   *
   * @throws RdmaException where a destruction failed; the rest was done all the same
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
