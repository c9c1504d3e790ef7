package org.rdma4j.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_ece;
import org.rdma4j.bindings.generated.ibv_path_data;
import org.rdma4j.bindings.generated.ibv_qp_attr;
import org.rdma4j.bindings.generated.rdma_addr;
import org.rdma4j.bindings.generated.rdma_cm_id;
import org.rdma4j.bindings.generated.rdma_cm_join_mc_attr_ex;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.generated.rdma_ib_addr;
import org.rdma4j.bindings.generated.rdma_route;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.bindings.inlines.RdmaVerbs;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.AsyncEventType;
import org.rdma4j.verbs.Ece;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairChange;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.QueuePairState;
import org.rdma4j.verbs.QueuePairType;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.internal.QueuePairOrigin;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * A communication identifier, {@code struct rdma_cm_id}: what a socket is to TCP. {@link
 * EventChannel#createId} makes one, and so does each request to connect.
 *
 * <p>The calls here begin something and return; what became of it tells an event of the channel.
 * {@link SynchronousCmId} waits for that.
 *
 * <p>All methods may be called from any thread.
 */
public final class CmId implements AutoCloseable {
  private static final ValueLayout.OfShort BIG_ENDIAN_SHORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final long MAX_MILLISECONDS = Integer.MAX_VALUE;

  private final NativeId id;
  private final PortSpace space;
  private final Lifetime lifetime;
  private volatile EventChannel channel;
  private volatile @Nullable QueuePair queuePair;

  /** Null until somebody asks. It stays the same for as long as that is open. */
  private volatile @Nullable RdmaDevice device;

  CmId(EventChannel channel, NativeId id, PortSpace space) {
    this.channel = channel;
    this.id = id;
    this.space = space;
    this.lifetime =
        new Lifetime("identifier of port space " + space, id::destroy, channel.lifetime());
  }

  private interface Call {
    /** 0, or -1 and errno. */
    int on(MemorySegment id, Arena arena);
  }

  private void call(String name, Call call) {
    query(
        pointer -> {
          try (Arena arena = Arena.ofConfined()) {
            Cm.check(name, call.on(pointer, arena));
            return true;
          }
        });
  }

  private <T> T query(Function<MemorySegment, T> query) {
    return lifetime.whileOpen(() -> id.exclusively(() -> query.apply(id.pointer())));
  }

  /** What librdmacm would find only by following a NULL pointer. */
  private void checkDevice(MemorySegment pointer) {
    if (rdma_cm_id.verbs(pointer).address() == 0) {
      throw new IllegalStateException(
          this
              + " has no device yet: resolve an address, or bind it to one that belongs to a"
              + " device");
    }
  }

  /**
   * Binds it to a local address: {@code rdma_bind_addr}. With the wildcard address it is bound to
   * all devices.
   *
   * @param local an InetSocketAddress or an {@link IbAddress}; port 0 has the system choose one
   * @throws IllegalArgumentException where the address is unresolved or of another kind
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException where it cannot be bound: EADDRINUSE where the port is taken, ENODEV
   *     where no RDMA device has that address
   */
  public void bind(SocketAddress local) {
    SocketAddresses.check(local);
    call(
        "rdma_bind_addr(" + local + ")",
        (pointer, arena) ->
            Calls.integer(
                rdma_h.rdma_bind_addr$address(), pointer, SocketAddresses.write(local, arena)));
  }

  /**
   * Listens for peers, each of which comes with a {@link CmEvent.ConnectRequest}: {@code
   * rdma_listen}.
   *
   * @param backlog how many requests wait at most until their events are read; 0 leaves it to the
   *     system
   * @throws IllegalArgumentException where the backlog is negative
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException where it cannot listen
   */
  public void listen(int backlog) {
    Range.check("backlog", backlog, 0, Integer.MAX_VALUE);
    call(
        "rdma_listen",
        (pointer, arena) -> Calls.integer(rdma_h.rdma_listen$address(), pointer, backlog));
  }

  /**
   * Resolves the address of a peer, and finds the device that leads there: {@code
   * rdma_resolve_addr}. {@link CmEvent.AddressResolved} or {@link CmEvent.AddressFailed} tells the
   * outcome.
   *
   * @param peer an InetSocketAddress or an {@link IbAddress}
   * @param timeout how long that may take, to 24 days, in milliseconds
   * @throws IllegalArgumentException where the address is unresolved or of another kind, or the
   *     timeout negative or too long
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException where it cannot be begun: ENODEV where no RDMA device leads there
   */
  public void resolveAddress(SocketAddress peer, Duration timeout) {
    resolveAddress(null, peer, timeout);
  }

  /**
   * Resolves the address of a peer, from a local address: {@code rdma_resolve_addr}.
   *
   * @param local the address to bind to; null where any will do
   * @param peer an InetSocketAddress or an {@link IbAddress}
   * @param timeout how long that may take, to 24 days, in milliseconds
   * @throws IllegalArgumentException where an address is unresolved or of another kind, or the
   *     timeout negative or too long
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException where it cannot be begun: ENODEV where no RDMA device leads there
   */
  public void resolveAddress(@Nullable SocketAddress local, SocketAddress peer, Duration timeout) {
    if (local != null) {
      SocketAddresses.check(local);
    }
    SocketAddresses.check(peer);
    int milliseconds = milliseconds(timeout);
    call(
        "rdma_resolve_addr(" + peer + ")",
        (pointer, arena) ->
            Calls.integer(
                rdma_h.rdma_resolve_addr$address(),
                pointer,
                local == null ? MemorySegment.NULL : SocketAddresses.write(local, arena),
                SocketAddresses.write(peer, arena),
                milliseconds));
  }

  /** Rounded up, so that what is not 0 does not become 0. */
  private static int milliseconds(Duration timeout) {
    if (timeout.isNegative() || timeout.compareTo(Duration.ofMillis(MAX_MILLISECONDS)) > 0) {
      throw new IllegalArgumentException(
          "timeout is " + timeout + ", must be from 0 to " + Duration.ofMillis(MAX_MILLISECONDS));
    }
    return (int) timeout.plusNanos(999_999).toMillis();
  }

  /**
   * Resolves the route to the peer, once its address is: {@code rdma_resolve_route}. {@link
   * CmEvent.RouteResolved} or {@link CmEvent.RouteFailed} tells the outcome.
   *
   * @param timeout how long that may take, to 24 days, in milliseconds; 0 is taken as 1
   * @throws IllegalArgumentException where the timeout is negative or too long
   * @throws IllegalStateException where the identifier is closed, or its address is not resolved
   * @throws RdmaException where it cannot be begun
   */
  public void resolveRoute(Duration timeout) {
    // To 0 the kernel says EINVAL, which is nothing to tell somebody whose time was up.
    int milliseconds = Math.max(1, milliseconds(timeout));
    call(
        "rdma_resolve_route",
        (pointer, arena) -> {
          checkDevice(pointer);
          return Calls.integer(rdma_h.rdma_resolve_route$address(), pointer, milliseconds);
        });
  }

  /**
   * Connects to the peer, once the route is resolved: {@code rdma_connect}. {@link
   * CmEvent.Established}, {@link CmEvent.Rejected}, {@link CmEvent.Unreachable} or {@link
   * CmEvent.ConnectFailed} tells the outcome; {@link CmEvent.ConnectResponse} where it has no queue
   * pair.
   *
   * @param parameters what the peer is told
   * @throws IllegalArgumentException where the private data is longer than {@link
   *     PortSpace#connectBytes}
   * @throws IllegalStateException where the identifier is closed, its address is not resolved, or
   *     it has neither a queue pair nor, in the parameters, the number of one's own
   * @throws RdmaException where it cannot be begun: EINVAL where the route is not resolved, or more
   *     reads are asked for than the device offers
   */
  public void connect(ConnectionParameters parameters) {
    checkPrivateData(parameters.privateData(), space.connectBytes());
    call(
        "rdma_connect",
        (pointer, arena) -> {
          checkDevice(pointer);
          if (!space.isDatagram()) {
            checkQueuePair(pointer, parameters);
          }
          return Calls.integer(rdma_h.rdma_connect$address(), pointer, parameters.write(arena));
        });
  }

  /**
   * Accepts the peer whose request this came with: {@code rdma_accept}. {@link CmEvent.Established}
   * tells when the connection is there, but for datagrams, where no event follows.
   *
   * @param parameters what the peer is told. {@link ConnectionParameters#DEVICE_MAXIMUM} grants
   *     what it asked for, as far as the device can
   * @throws IllegalArgumentException where the private data is longer than {@link
   *     PortSpace#acceptBytes}
   * @throws IllegalStateException where the identifier is closed, came with no request, or has
   *     neither a queue pair nor, in the parameters, the number of one's own
   * @throws RdmaException where it cannot be accepted, as where the peer gave up
   */
  public void accept(ConnectionParameters parameters) {
    checkPrivateData(parameters.privateData(), space.acceptBytes());
    call(
        "rdma_accept",
        (pointer, arena) -> {
          checkDevice(pointer);
          checkQueuePair(pointer, parameters);
          int result =
              Calls.integer(rdma_h.rdma_accept$address(), pointer, parameters.write(arena));
          if (!space.isDatagram()) {
            queuePairIsIn(result == 0 ? QueuePairState.READY_TO_SEND : QueuePairState.ERROR);
          }
          return result;
        });
  }

  private void checkQueuePair(MemorySegment pointer, ConnectionParameters parameters) {
    if (rdma_cm_id.qp(pointer).address() == 0 && parameters.queuePairNumber() == 0) {
      throw new IllegalStateException(
          this
              + " has no queue pair: create one, or give the number of your own by"
              + " ConnectionParameters.queuePairNumber");
    }
  }

  private void checkPrivateData(ByteBuffer privateData, int max) {
    Range.check(
        "length of the private data of port space " + space, privateData.remaining(), 0, max);
  }

  /**
   * Rejects the peer whose request this came with: {@code rdma_reject}. The identifier has to be
   * closed afterwards.
   *
   * @param privateData what the peer is told, from the position to the limit
   * @throws IllegalArgumentException where that is longer than {@link PortSpace#rejectBytes}
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException where there is nothing to reject
   */
  public void reject(ByteBuffer privateData) {
    reject("rdma_reject", rdma_h.rdma_reject$address(), privateData);
  }

  /**
   * Rejects the peer since its {@link Ece} does not fit: {@code rdma_reject_ece}.
   *
   * @param privateData what the peer is told, from the position to the limit
   * @throws IllegalArgumentException where that is longer than {@link PortSpace#rejectBytes}
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException where there is nothing to reject
   */
  public void rejectEce(ByteBuffer privateData) {
    reject("rdma_reject_ece", rdma_h.rdma_reject_ece$address(), privateData);
  }

  private void reject(String name, MemorySegment function, ByteBuffer privateData) {
    checkPrivateData(privateData, space.rejectBytes());
    call(
        name,
        (pointer, arena) ->
            Calls.integer(
                function,
                pointer,
                ConnectionParameters.write(privateData, arena),
                (byte) privateData.remaining()));
  }

  /**
   * Tells the peer that accepted that the queue pair of one's own is ready to send: {@code
   * rdma_establish}, the answer to {@link CmEvent.ConnectResponse}.
   *
   * @throws IllegalStateException where the identifier is closed, or has a queue pair, with which
   *     it would do this by itself
   * @throws RdmaException where no peer has accepted
   */
  public void establish() {
    call(
        "rdma_establish",
        (pointer, arena) -> {
          if (rdma_cm_id.qp(pointer).address() != 0) {
            throw new IllegalStateException(
                this + " has a queue pair, and tells the peer by itself that it is ready");
          }
          return Calls.integer(rdma_h.rdma_establish$address(), pointer);
        });
  }

  /**
   * Ends the connection: {@code rdma_disconnect}. The queue pair goes to ERROR at once; {@link
   * CmEvent.Disconnected} comes to both sides.
   *
   * @throws IllegalStateException where the identifier is closed, or has no device yet
   * @throws RdmaException where there is no connection
   */
  public void disconnect() {
    call(
        "rdma_disconnect",
        (pointer, arena) -> {
          checkDevice(pointer);
          queuePairIsIn(QueuePairState.ERROR);
          return Calls.integer(rdma_h.rdma_disconnect$address(), pointer);
        });
  }

  /**
   * Has the events of this arrive on another channel, unread ones included: {@code
   * rdma_migrate_id}. It depends on that channel from then on.
   *
   * @param to the channel
   * @throws IllegalStateException where this or the channel is closed
   * @throws RdmaException where it cannot be moved
   */
  public void migrate(EventChannel to) {
    lifetime.whileOpen(
        () ->
            to.lifetime()
                .whileOpen(
                    () -> {
                      id.migrate(this, to);
                      return true;
                    }));
  }

  /** The channel that it moves to and the one that it leaves; with the locks of both. */
  void moved(EventChannel to) {
    EventChannel from = channel;
    channel = to;
    if (from != to) {
      lifetime.dependOn(to.lifetime());
      lifetime.dependNoMoreOn(from.lifetime());
    }
  }

  /**
   * Tells the connection manager what an asynchronous event of the device told: {@code
   * rdma_notify}. Of use for a message that arrives before the connection is {@link
   * CmEvent.Established}: {@link AsyncEventType#COMMUNICATION_ESTABLISHED}.
   *
   * @param event what it told
   * @throws IllegalStateException where the identifier is closed, or has no device yet
   * @throws RdmaException where the connection's state does not allow it
   */
  public void notifyOf(AsyncEventType event) {
    call(
        "rdma_notify(" + event + ")",
        (pointer, arena) -> {
          checkDevice(pointer);
          return Calls.integer(rdma_h.rdma_notify$address(), pointer, event.value());
        });
  }

  /**
   * Creates the queue pair of this: {@code rdma_create_qp_ex}, which is {@code rdma_create_qp}
   * where the configuration is not an extended one. It is in INIT, so that receives can be posted
   * before the peer sends, or for datagrams in READY_TO_SEND. The connection manager brings it to
   * the other states. Closing it, {@code rdma_destroy_qp}, leaves the groups that this has joined.
   *
   * @param domain a domain of {@link #device}
   * @param config its queues and their capacities
   * @return the queue pair, which is closed with this
   * @throws IllegalArgumentException where the domain is of another device, the type does not fit
   *     the port space, a capacity is beyond what the device offers, or a completion queue cannot
   *     hold the completions of all queue pairs that use it
   * @throws IllegalStateException where the identifier, the domain or a completion queue is closed,
   *     or the identifier has no device yet, or a queue pair already
   * @throws RdmaException where it cannot be created
   */
  public QueuePair createQueuePair(ProtectionDomain domain, QueuePairConfig config) {
    RdmaDevice device = device();
    if (domain.device() != device) {
      throw new IllegalArgumentException(
          "the domain belongs to %s, must belong to the %s of the identifier (CmId.device)"
              .formatted(domain.device(), device));
    }
    QueuePairType type = space.queuePairType();
    if (config.type() != type) {
      throw new IllegalArgumentException(
          "type is " + config.type() + ", must be " + type + " in port space " + space);
    }
    return lifetime.whileOpen(
        () -> {
          QueuePair created = VerbsAccess.get().createQueuePair(domain, config, origin());
          queuePair = created;
          return created;
        });
  }

  private QueuePairOrigin origin() {
    return new QueuePairOrigin(
        "rdma_create_qp_ex",
        init -> id.exclusively(() -> createQueuePair(init)),
        pointer -> id.destroyQueuePair(),
        space.isDatagram() ? QueuePairState.READY_TO_SEND : QueuePairState.INIT,
        List.of(lifetime));
  }

  private MemorySegment createQueuePair(MemorySegment init) {
    MemorySegment pointer = id.pointer();
    if (rdma_cm_id.qp(pointer).address() != 0) {
      throw new IllegalStateException(this + " has a queue pair already: close that first");
    }
    return Calls.integer(rdma_h.rdma_create_qp_ex$address(), pointer, init) == 0
        ? rdma_cm_id.qp(pointer)
        : MemorySegment.NULL;
  }

  /**
   * The queue pair that {@link #createQueuePair} made.
   *
   * @return the queue pair; empty where there is none, or it was closed
   * @throws IllegalStateException where the identifier is closed
   */
  public Optional<QueuePair> queuePair() {
    return query(
        pointer ->
            rdma_cm_id.qp(pointer).address() == 0
                ? Optional.empty()
                : Optional.ofNullable(queuePair));
  }

  /** Takes note of the state that librdmacm brought the queue pair to. */
  void queuePairIsIn(QueuePairState state) {
    QueuePair own = queuePair;
    if (own != null) {
      VerbsAccess.get().noteState(own, state);
    }
  }

  /**
   * What to change of a queue pair of one's own that the connection manager does not know of, so
   * that it gets to a state: {@code rdma_init_qp_attr}.
   *
   * @param state INIT, READY_TO_RECEIVE or READY_TO_SEND
   * @return the change, for {@link QueuePair#modify}
   * @throws IllegalStateException where the identifier is closed, or has no device yet
   * @throws RdmaException where the state of the connection does not tell it
   */
  public QueuePairChange initQueuePairAttributes(QueuePairState state) {
    return query(
        pointer -> {
          checkDevice(pointer);
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_qp_attr.layout());
            MemorySegment mask = arena.allocate(JAVA_INT);
            ibv_qp_attr.qp_state(attributes, state.value());
            Cm.check(
                "rdma_init_qp_attr(" + state + ")",
                Calls.integer(rdma_h.rdma_init_qp_attr$address(), pointer, attributes, mask));
            return VerbsAccess.get().change(attributes, mask.get(JAVA_INT, 0));
          }
        });
  }

  /**
   * Joins a multicast group, to send and to receive: {@code rdma_join_multicast}. {@link
   * CmEvent.MulticastJoined} or {@link CmEvent.MulticastFailed} tells the outcome. The queue pair
   * is attached to the group by then, so create it first.
   *
   * @param group an InetSocketAddress or an {@link IbAddress}; the port is of no meaning
   * @throws IllegalArgumentException where the address is unresolved or of another kind
   * @throws IllegalStateException where the identifier is closed, or has no device yet
   * @throws RdmaException where it cannot be begun
   */
  public void joinMulticast(SocketAddress group) {
    join(
        "rdma_join_multicast(" + group + ")",
        group,
        (pointer, address, context, arena) ->
            Calls.integer(rdma_h.rdma_join_multicast$address(), pointer, address, context));
  }

  /**
   * Joins a multicast group: {@code rdma_join_multicast_ex}.
   *
   * @param group an InetSocketAddress or an {@link IbAddress}; the port is of no meaning
   * @param flag as what
   * @throws IllegalArgumentException where the address is unresolved or of another kind
   * @throws IllegalStateException where the identifier is closed, or has no device yet
   * @throws RdmaException where it cannot be begun
   */
  public void joinMulticast(SocketAddress group, JoinFlag flag) {
    join(
        "rdma_join_multicast_ex(" + group + ", " + flag + ")",
        group,
        (pointer, address, context, arena) -> {
          MemorySegment attributes = arena.allocate(rdma_cm_join_mc_attr_ex.layout());
          rdma_cm_join_mc_attr_ex.comp_mask(
              attributes,
              rdma_h.RDMA_CM_JOIN_MC_ATTR_ADDRESS() | rdma_h.RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS());
          rdma_cm_join_mc_attr_ex.join_flags(attributes, flag.value());
          rdma_cm_join_mc_attr_ex.addr(attributes, address);
          return Calls.integer(
              rdma_h.rdma_join_multicast_ex$address(), pointer, attributes, context);
        });
  }

  private void join(String name, SocketAddress group, NativeId.Join join) {
    SocketAddresses.check(group);
    query(
        pointer -> {
          checkDevice(pointer);
          id.join(name, group, join);
          return true;
        });
  }

  /** The group of an event; null where it was left. */
  @Nullable SocketAddress group(MemorySegment context) {
    return id.group(context);
  }

  /**
   * Leaves a multicast group: {@code rdma_leave_multicast}. Closing this, or its queue pair, leaves
   * all groups.
   *
   * @param group the group, as it was joined
   * @throws IllegalArgumentException where it was not joined
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException where it cannot be left
   */
  public void leaveMulticast(SocketAddress group) {
    query(
        pointer -> {
          id.leave(group);
          return true;
        });
  }

  /**
   * What this side offers beyond the standard, with a queue pair of one's own: {@code
   * rdma_set_local_ece}. With the identifier's own queue pair it is set by itself.
   *
   * @param ece what is offered
   * @throws IllegalArgumentException where the vendor is 0
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException EINVAL where it has a queue pair of its own
   */
  public void localEce(Ece ece) {
    if (ece.vendorId() == 0) {
      throw new IllegalArgumentException("vendorId is 0, must be that of a vendor");
    }
    call(
        "rdma_set_local_ece",
        (pointer, arena) -> {
          MemorySegment raw = arena.allocate(ibv_ece.layout());
          ibv_ece.vendor_id(raw, ece.vendorId());
          ibv_ece.options(raw, ece.options());
          return Calls.integer(rdma_h.rdma_set_local_ece$address(), pointer, raw);
        });
  }

  /**
   * What the peer offers beyond the standard: {@code rdma_get_remote_ece}.
   *
   * @return what it told with its request or response; the vendor is 0 where it offers nothing
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException EINVAL where it has a queue pair of its own
   */
  public Ece remoteEce() {
    return query(
        pointer -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment raw = arena.allocate(ibv_ece.layout());
            Cm.check(
                "rdma_get_remote_ece",
                Calls.integer(rdma_h.rdma_get_remote_ece$address(), pointer, raw));
            return new Ece(ibv_ece.vendor_id(raw), ibv_ece.options(raw), ibv_ece.comp_mask(raw));
          }
        });
  }

  /**
   * The type of service of its packets: {@code RDMA_OPTION_ID_TOS}. To be set before the route is
   * resolved.
   *
   * @param typeOfService 0 to 255, as in the IP header
   * @throws IllegalArgumentException where it is out of range
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException where it is not taken
   */
  public void typeOfService(int typeOfService) {
    Range.check("typeOfService", typeOfService, 0, 0xff);
    option("RDMA_OPTION_ID_TOS", rdma_h.RDMA_OPTION_ID_TOS(), (byte) typeOfService);
  }

  /**
   * Whether another identifier may be bound to the same address: {@code RDMA_OPTION_ID_REUSEADDR}.
   * To be set before it is bound.
   *
   * @param reuse whether it may
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException where it is not taken
   */
  public void reuseAddress(boolean reuse) {
    option("RDMA_OPTION_ID_REUSEADDR", rdma_h.RDMA_OPTION_ID_REUSEADDR(), reuse ? 1 : 0);
  }

  /**
   * Whether it serves IPv6 alone, where it is bound to the wildcard address: {@code
   * RDMA_OPTION_ID_AFONLY}. To be set before it is bound.
   *
   * @param only whether it does
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException where it is not taken
   */
  public void ipv6Only(boolean only) {
    option("RDMA_OPTION_ID_AFONLY", rdma_h.RDMA_OPTION_ID_AFONLY(), only ? 1 : 0);
  }

  /**
   * How long its queue pair waits for an acknowledgement: {@code RDMA_OPTION_ID_ACK_TIMEOUT}. To be
   * set before it connects or accepts.
   *
   * @param timeout 4.096 microseconds x 2^n, 0 to 31, of which 0 is for ever
   * @throws IllegalArgumentException where it is out of range
   * @throws IllegalStateException where the identifier is closed
   * @throws RdmaException where it is not taken: EINVAL where it is not for reliable connections
   */
  public void ackTimeout(int timeout) {
    Range.check("timeout", timeout, 0, 31);
    option("RDMA_OPTION_ID_ACK_TIMEOUT", rdma_h.RDMA_OPTION_ID_ACK_TIMEOUT(), (byte) timeout);
  }

  /**
   * The paths to the peer, instead of those that {@link #resolveRoute} would find: {@code
   * RDMA_OPTION_IB_PATH}. {@link CmEvent.RouteResolved} follows.
   *
   * @param paths one or more
   * @throws IllegalArgumentException where there is none
   * @throws IllegalStateException where the identifier is closed, or its address is not resolved
   * @throws RdmaException where they are not taken: EINVAL where none is a primary path
   */
  public void paths(List<PathRecord> paths) {
    if (paths.isEmpty()) {
      throw new IllegalArgumentException("paths is empty, must have one or more");
    }
    long size = ibv_path_data.layout().byteSize();
    query(
        pointer -> {
          checkDevice(pointer);
          return true;
        });
    option(
        "RDMA_OPTION_IB_PATH",
        rdma_h.RDMA_OPTION_IB(),
        rdma_h.RDMA_OPTION_IB_PATH(),
        arena -> {
          MemorySegment raw = arena.allocate(ibv_path_data.layout(), paths.size());
          for (int i = 0; i < paths.size(); i++) {
            paths.get(i).write(raw.asSlice(i * size, size));
          }
          return raw;
        });
  }

  private void option(String name, int option, byte value) {
    option(name, rdma_h.RDMA_OPTION_ID(), option, arena -> arena.allocateFrom(JAVA_BYTE, value));
  }

  private void option(String name, int option, int value) {
    option(name, rdma_h.RDMA_OPTION_ID(), option, arena -> arena.allocateFrom(JAVA_INT, value));
  }

  private void option(String name, int level, int option, Function<Arena, MemorySegment> value) {
    call(
        "rdma_set_option(" + name + ")",
        (pointer, arena) -> {
          MemorySegment raw = value.apply(arena);
          return Calls.integer(
              rdma_h.rdma_set_option$address(), pointer, level, option, raw, raw.byteSize());
        });
  }

  /**
   * What kind of communication it is for.
   *
   * @return the port space
   */
  public PortSpace portSpace() {
    return space;
  }

  /**
   * The channel that its events arrive on.
   *
   * @return the channel
   */
  public EventChannel channel() {
    return channel;
  }

  /**
   * Whether it is bound to a device, which resolving an address does, and binding to an address
   * other than the wildcard.
   *
   * @return whether {@link #device} has one
   * @throws IllegalStateException where the identifier is closed
   */
  public boolean hasDevice() {
    return query(pointer -> rdma_cm_id.verbs(pointer).address() != 0);
  }

  /**
   * The device that it is bound to: {@code rdma_cm_id.verbs}. It is the same object for all
   * identifiers of that device, and not to be closed by one of them.
   *
   * @return the device, to make domains and completion queues of
   * @throws IllegalStateException where the identifier is closed, or has no device yet
   * @throws RdmaException where the device is gone
   */
  public RdmaDevice device() {
    return lifetime.whileOpen(
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
          checkDevice(id.pointer());
          return rdma_cm_id.verbs(id.pointer());
        });
  }

  /**
   * The port of the device that it is bound to: {@code rdma_cm_id.port_num}.
   *
   * @return the port, from 1; 0 where it is not bound to a device
   * @throws IllegalStateException where the identifier is closed
   */
  public int port() {
    return query(pointer -> Byte.toUnsignedInt(rdma_cm_id.port_num(pointer)));
  }

  /**
   * The local address and port: {@code rdma_get_local_addr}, {@code rdma_get_src_port}.
   *
   * @return the address, the wildcard address and port 0 where it is not bound
   * @throws IllegalStateException where the identifier is closed, or has an {@link IbAddress}: ask
   *     {@link #localSocketAddress}
   */
  public InetSocketAddress localAddress() {
    return inet(localSocketAddress(), "localSocketAddress");
  }

  /**
   * The peer's address and port: {@code rdma_get_peer_addr}, {@code rdma_get_dst_port}.
   *
   * @return the address, the wildcard address and port 0 where none was resolved
   * @throws IllegalStateException where the identifier is closed, or has an {@link IbAddress}: ask
   *     {@link #peerSocketAddress}
   */
  public InetSocketAddress peerAddress() {
    return inet(peerSocketAddress(), "peerSocketAddress");
  }

  private InetSocketAddress inet(SocketAddress address, String instead) {
    if (address instanceof InetSocketAddress inet) {
      return inet;
    }
    throw new IllegalStateException(
        "%s has the address %s of InfiniBand: call %s".formatted(this, address, instead));
  }

  /**
   * The local address of whatever kind: {@code rdma_get_local_addr}.
   *
   * @return an InetSocketAddress or an {@link IbAddress}
   * @throws IllegalStateException where the identifier is closed
   */
  public SocketAddress localSocketAddress() {
    return address(RdmaVerbs::rdma_get_local_addr);
  }

  /**
   * The peer's address of whatever kind: {@code rdma_get_peer_addr}.
   *
   * @return an InetSocketAddress or an {@link IbAddress}
   * @throws IllegalStateException where the identifier is closed
   */
  public SocketAddress peerSocketAddress() {
    return address(RdmaVerbs::rdma_get_peer_addr);
  }

  private SocketAddress address(UnaryOperator<MemorySegment> address) {
    return query(pointer -> SocketAddresses.read(address.apply(pointer)));
  }

  /**
   * The GID that its packets come from: {@code rdma_ib_addr.sgid}.
   *
   * @return the GID; {@link Gid#ZERO} where it is not bound to a device
   * @throws IllegalStateException where the identifier is closed
   */
  public Gid sourceGid() {
    return query(pointer -> Gid.read(rdma_ib_addr.sgid(gids(pointer))));
  }

  /**
   * The GID that its packets go to: {@code rdma_ib_addr.dgid}.
   *
   * @return the GID; {@link Gid#ZERO} where no address was resolved
   * @throws IllegalStateException where the identifier is closed
   */
  public Gid destinationGid() {
    return query(pointer -> Gid.read(rdma_ib_addr.dgid(gids(pointer))));
  }

  /**
   * The partition key: {@code rdma_ib_addr.pkey}.
   *
   * @return the key, 0 to 0xffff, as a number
   * @throws IllegalStateException where the identifier is closed
   */
  public int partitionKey() {
    return query(
        pointer ->
            Short.toUnsignedInt(gids(pointer).get(BIG_ENDIAN_SHORT, rdma_ib_addr.pkey$offset())));
  }

  private static MemorySegment gids(MemorySegment pointer) {
    return rdma_addr.addr.ibaddr(rdma_addr.addr(rdma_route.addr(rdma_cm_id.route(pointer))));
  }

  /**
   * The way out to the bindings: {@code struct rdma_cm_id *}. It is valid until this is closed;
   * with it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where the identifier is closed
   */
  public MemorySegment handle() {
    return query(pointer -> pointer);
  }

  /**
   * Closes the queue pair, leaves the groups, then destroys the identifier: {@code
   * rdma_destroy_id}. What was begun is off, and unread events of it are gone. A connection ends,
   * of which the peer learns by {@link CmEvent.Disconnected}. Does nothing where it is closed.
   *
   * @throws RdmaException where a destruction failed; the rest was done all the same
   */
  @Override
  public void close() {
    lifetime.close();
  }

  boolean isOpen() {
    return lifetime.isOpen();
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
