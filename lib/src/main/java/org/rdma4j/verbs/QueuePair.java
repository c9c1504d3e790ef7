package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_ece;
import org.rdma4j.bindings.generated.ibv_qp;
import org.rdma4j.bindings.generated.ibv_qp_attr;
import org.rdma4j.bindings.generated.ibv_qp_init_attr;
import org.rdma4j.bindings.generated.ibv_qp_init_attr_ex;
import org.rdma4j.bindings.generated.ibv_qp_open_attr;
import org.rdma4j.bindings.generated.ibv_qp_rate_limit_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.datapath.ExtendedQueuePair;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.SingleClaim;
import org.rdma4j.lifetime.BoundWindows;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;
import org.rdma4j.verbs.internal.QueuePairOrigin;

/**
 * A queue pair, {@code struct ibv_qp}: one end of a reliable connection.
 *
 * <p>All methods may be called from any thread. Requests are posted through {@link SendRequests}
 * and {@link ReceiveRequests}, of which each posting thread makes its own; several threads may post
 * to one queue pair at once.
 */
public final class QueuePair implements AutoCloseable {
  private static final Set<QueuePairState> STATES_THAT_TAKE_SENDS =
      EnumSet.of(
          QueuePairState.READY_TO_SEND,
          QueuePairState.SEND_QUEUE_DRAINED,
          QueuePairState.SEND_QUEUE_ERROR,
          QueuePairState.ERROR);

  private final ProtectionDomain domain;
  private final MemorySegment queuePair;
  private final QueuePairCapabilities capabilities;
  private final QueuePairType type;
  private final QueuePairConfig config;
  private final SingleClaim sendRequests;
  private final SingleClaim receiveRequests;
  private final @Nullable ExtendedQueuePair extended;
  private final MulticastGroups groups;

  /** Those of type 2, which belong to the queue pair that binds them. */
  private final BoundWindows windows = new BoundWindows();

  private final StateSteps steps = new StateSteps(this);
  private final int sequenceNumber;
  private final HotCalls posts;
  private final Lifetime lifetime;

  /*
   * Looked at by every post: a provider that finds the state wrong only after it has queued a request
   * would process it later. Plain fields, since what they guard is the order of one's own calls.
   */
  private boolean takesReceives;
  private boolean takesSends;

  private QueuePair(
      ProtectionDomain domain,
      MemorySegment queuePair,
      QueuePairCapabilities capabilities,
      QueuePairConfig config,
      QueuePairOrigin origin,
      Runnable releaseReservations) {
    this.domain = domain;
    this.queuePair = queuePair;
    this.capabilities = capabilities;
    this.type = config.type();
    this.config = config;
    this.sequenceNumber = config.sequenceNumberOrRandom();
    this.sendRequests = new SingleClaim(domain.hasThreadDomain());
    this.receiveRequests = new SingleClaim(domain.hasThreadDomain());
    this.extended =
        config.sendOperations().isEmpty()
            ? null
            : ExtendedQueuePair.of(
                queuePair,
                type == QueuePairType.UNRELIABLE_DATAGRAM,
                type == QueuePairType.XRC_SEND,
                domain.device().callStyle().isCritical());
    MulticastGroups attached = new MulticastGroups(domain.device().info(), queuePair);
    this.groups = attached;
    DeviceInfo device = domain.device().info();
    BoundWindows bound = windows;
    HotCalls calls = new HotCalls();
    this.posts = calls;
    this.lifetime =
        new Lifetime(
            "queue pair " + ibv_qp.qp_num(queuePair) + " of " + device.name(),
            () -> {
              calls.revoke();
              // While one of type 2 is bound by it, soft-RoCE takes 50 s to destroy a queue pair.
              bound.closeBound();
              attached.detachAll();
              origin.destroy().accept(queuePair);
              releaseReservations.run();
            },
            Stream.concat(config.dependsOn(domain).stream(), origin.dependsOn().stream())
                .distinct()
                .toArray(Lifetime[]::new));
    noteState(origin.state());
    domain.device().register(queuePair.address(), this, lifetime);
    Leaks.watch(this, lifetime);
  }

  /** Creates a queue pair in the way of its origin. */
  static QueuePair create(ProtectionDomain domain, QueuePairConfig config, QueuePairOrigin origin) {
    config.check(domain);
    return Lifetime.whileAllOpen(
        config.dependsOn(domain), () -> createWhileOpen(domain, config, origin));
  }

  private static QueuePair createWhileOpen(
      ProtectionDomain domain, QueuePairConfig config, QueuePairOrigin origin) {
    Runnable release = Reservations.reserve(config);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_qp_init_attr_ex.layout());
      config.write(init, domain, arena);
      MemorySegment cap = ibv_qp_init_attr_ex.cap(init);
      MemorySegment created =
          NativeFailures.created(
              domain.device().info().name(),
              origin.call() + "(" + config.type() + ", " + QueuePairCapabilities.read(cap) + ")",
              origin.create().apply(init));
      try {
        return new QueuePair(
            domain, created, QueuePairCapabilities.read(cap), config, origin, release);
      } catch (RuntimeException failed) {
        origin.destroy().accept(created);
        throw failed;
      }
    } catch (RuntimeException failed) {
      release.run();
      throw failed;
    }
  }

  /** Opens the receiving queue pair of that number in an XRC domain. */
  static QueuePair open(ProtectionDomain domain, XrcDomain xrcDomain, int number) {
    Range.check("number", number, 0, 0xff_ffff);
    QueuePairConfig config = QueuePairConfig.xrcReceive(xrcDomain);
    config.check(domain);
    return Lifetime.whileAllOpen(
        config.dependsOn(domain), () -> openWhileOpen(domain, config, xrcDomain, number));
  }

  private static QueuePair openWhileOpen(
      ProtectionDomain domain, QueuePairConfig config, XrcDomain xrcDomain, int number) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment open = arena.allocate(ibv_qp_open_attr.layout());
      ibv_qp_open_attr.comp_mask(
          open,
          rdma_h.IBV_QP_OPEN_ATTR_NUM()
              | rdma_h.IBV_QP_OPEN_ATTR_XRCD()
              | rdma_h.IBV_QP_OPEN_ATTR_TYPE());
      ibv_qp_open_attr.qp_num(open, number);
      ibv_qp_open_attr.xrcd(open, xrcDomain.pointer());
      ibv_qp_open_attr.qp_type(open, config.type().value());
      return new QueuePair(
          domain,
          NativeFailures.created(
              domain.device().info().name(),
              "ibv_open_qp(" + number + ")",
              Verbs.ibv_open_qp(domain.device().context(), open)),
          new QueuePairCapabilities(0, 0, 0, 0, 0),
          config,
          byVerbs(domain),
          () -> {});
    }
  }

  /** The way of {@code ibv_create_qp_ex}. */
  static QueuePairOrigin byVerbs(ProtectionDomain domain) {
    DeviceInfo device = domain.device().info();
    return new QueuePairOrigin(
        "ibv_create_qp",
        init -> Verbs.ibv_create_qp_ex(domain.device().context(), init),
        queuePair ->
            NativeFailures.check(device.name(), "ibv_destroy_qp", rdma_h.ibv_destroy_qp(queuePair)),
        QueuePairState.RESET,
        List.of());
  }

  /**
   * The number by which peers address it, and which completions carry.
   *
   * @return the number, 0 to 0xffffff
   * @throws IllegalStateException where the queue pair is closed
   */
  public int number() {
    return lifetime.whileOpen(() -> ibv_qp.qp_num(queuePair));
  }

  /**
   * What it is.
   *
   * @return the type that it was created with
   */
  public QueuePairType type() {
    return type;
  }

  /**
   * What it was granted, at least what was asked for.
   *
   * @return the capacities
   */
  public QueuePairCapabilities capabilities() {
    return capabilities;
  }

  /**
   * Returns the packet sequence number of the first packet that this queue pair sends. {@link
   * #address} tells it to the peer, and {@link #readyToSend} sets it.
   *
   * @return the number that the configuration gave, else one chosen at random when the queue pair
   *     was created; 0 to 0xffffff
   */
  public int sequenceNumber() {
    return sequenceNumber;
  }

  /**
   * Returns what the peer has to know to connect to this queue pair.
   *
   * @param port the local port, from 1
   * @param gidIndex the index of the local GID; {@link PathConfig#NO_GID} if packets carry none
   * @return the address
   * @throws IllegalArgumentException if the device does not have the port or the GID
   * @throws IllegalStateException if the queue pair is closed
   * @throws RdmaException if the port or the GID cannot be queried
   */
  public QueuePairAddress address(int port, int gidIndex) {
    RdmaDevice device = domain.device();
    Gid gid = gidIndex == PathConfig.NO_GID ? Gid.ZERO : device.requireGid(port, gidIndex);
    return new QueuePairAddress(device.port(port).lid(), number(), sequenceNumber, gid);
  }

  /**
   * Queries the queue pair: {@code ibv_query_qp}.
   *
   * @return its attributes as of now
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the query fails
   */
  public QueuePairAttributes query() {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_qp_attr.layout());
            MemorySegment init = arena.allocate(ibv_qp_init_attr.layout());
            NativeFailures.check(
                domain.device().info().name(),
                "ibv_query_qp",
                rdma_h.ibv_query_qp(queuePair, attributes, EVERY_ATTRIBUTE, init));
            return QueuePairAttributes.read(attributes);
          }
        });
  }

  /** What there is for any type, as ibv_query_qp takes it. */
  private static final int EVERY_ATTRIBUTE =
      rdma_h.IBV_QP_STATE()
          | rdma_h.IBV_QP_QKEY()
          | rdma_h.IBV_QP_ALT_PATH()
          | rdma_h.IBV_QP_PATH_MIG_STATE()
          | rdma_h.IBV_QP_CUR_STATE()
          | rdma_h.IBV_QP_ACCESS_FLAGS()
          | rdma_h.IBV_QP_PKEY_INDEX()
          | rdma_h.IBV_QP_PORT()
          | rdma_h.IBV_QP_AV()
          | rdma_h.IBV_QP_PATH_MTU()
          | rdma_h.IBV_QP_TIMEOUT()
          | rdma_h.IBV_QP_RETRY_CNT()
          | rdma_h.IBV_QP_RNR_RETRY()
          | rdma_h.IBV_QP_RQ_PSN()
          | rdma_h.IBV_QP_MAX_QP_RD_ATOMIC()
          | rdma_h.IBV_QP_MIN_RNR_TIMER()
          | rdma_h.IBV_QP_SQ_PSN()
          | rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC()
          | rdma_h.IBV_QP_CAP()
          | rdma_h.IBV_QP_DEST_QPN();

  /**
   * From RESET to INIT, where receives can be posted: {@code ibv_modify_qp}.
   *
   * @param port the local port, from 1
   * @param partitionKeyIndex the index of the partition key, 0 in most networks
   * @param access what the peer may do with memory of this side
   * @throws IllegalArgumentException where there is no such port
   * @throws IllegalStateException where the queue pair is closed, or is for datagrams
   * @throws RdmaException where the state does not allow it
   */
  public void initialize(int port, int partitionKeyIndex, AccessFlag... access) {
    steps.initialize(port, partitionKeyIndex, List.of(access));
  }

  /**
   * From RESET to INIT, where receives can be posted, for datagrams: {@code ibv_modify_qp}.
   *
   * @param port the local port, from 1
   * @param partitionKeyIndex the index of the partition key, 0 in most networks
   * @param queueKey what datagrams to this queue pair must carry
   * @throws IllegalArgumentException where there is no such port
   * @throws IllegalStateException where the queue pair is closed, or is not for datagrams
   * @throws RdmaException where the state does not allow it
   */
  public void initializeDatagrams(int port, int partitionKeyIndex, int queueKey) {
    steps.initializeDatagrams(port, partitionKeyIndex, queueKey);
  }

  /**
   * From INIT to READY_TO_RECEIVE, where messages of the peer are received: {@code ibv_modify_qp}.
   *
   * @param path how to reach the peer
   * @throws IllegalArgumentException where the path names a port, or a number of reads, that the
   *     device does not have
   * @throws IllegalStateException where the queue pair is closed, or is for datagrams
   * @throws RdmaException where the state does not allow it, or the path is invalid: on RoCE it
   *     needs a GID index
   */
  public void readyToReceive(PathConfig path) {
    steps.readyToReceive(path);
  }

  /**
   * From READY_TO_RECEIVE to READY_TO_SEND, where sends are processed too: {@code ibv_modify_qp}.
   *
   * @param path how to reach the peer, the same as for {@link #readyToReceive}
   * @throws IllegalArgumentException where the path names a number of reads that the device does
   *     not have
   * @throws IllegalStateException where the queue pair is closed, or is for datagrams
   * @throws RdmaException where the state does not allow it
   */
  public void readyToSend(PathConfig path) {
    steps.readyToSend(path);
  }

  /**
   * Connects to the peer: {@link #initialize}, where it is still in RESET, {@link #readyToReceive}
   * and {@link #readyToSend}. The peer does the same; neither waits for the other.
   *
   * @param path how to reach the peer
   * @throws IllegalArgumentException where the path names what the device does not have
   * @throws IllegalStateException where the queue pair is closed, or is for datagrams
   * @throws RdmaException where the state does not allow it, or the path is invalid
   */
  public void connect(PathConfig path) {
    steps.connect(path);
  }

  /**
   * Has datagrams sent and received: {@link #initializeDatagrams}, where it is still in RESET, then
   * to READY_TO_RECEIVE and READY_TO_SEND.
   *
   * @param port the local port, from 1
   * @param partitionKeyIndex the index of the partition key, 0 in most networks
   * @param queueKey what datagrams to this queue pair must carry
   * @throws IllegalArgumentException where there is no such port, or the number is out of range
   * @throws IllegalStateException where the queue pair is closed, or is not for datagrams
   * @throws RdmaException where the state does not allow it
   */
  public void startDatagrams(int port, int partitionKeyIndex, int queueKey) {
    steps.startDatagrams(port, partitionKeyIndex, queueKey);
  }

  /**
   * Has packets sent and received by a queue pair of raw packets: over INIT and READY_TO_RECEIVE to
   * READY_TO_SEND.
   *
   * @param port the local port, from 1
   * @throws IllegalArgumentException where there is no such port
   * @throws IllegalStateException where the queue pair is closed, or is not of raw packets
   * @throws RdmaException where the state does not allow it
   */
  public void startRawPackets(int port) {
    steps.startRawPackets(port);
  }

  /**
   * From READY_TO_SEND to SEND_QUEUE_DRAINED: sends that have begun are finished, further ones
   * wait.
   *
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the state does not allow it
   */
  public void drainSendQueue() {
    modify(new QueuePairChange().state(QueuePairState.SEND_QUEUE_DRAINED));
  }

  /**
   * From SEND_QUEUE_DRAINED back to READY_TO_SEND.
   *
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the state does not allow it
   */
  public void resumeSendQueue() {
    modify(new QueuePairChange().state(QueuePairState.READY_TO_SEND));
  }

  /**
   * To ERROR: every outstanding request, and every one that is posted from now on, completes with
   * {@link CompletionStatus#FLUSHED}.
   *
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the device refuses it
   */
  public void toError() {
    modify(new QueuePairChange().state(QueuePairState.ERROR));
  }

  /**
   * To RESET: outstanding requests are gone, without a completion; it can be connected anew.
   *
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the device refuses it
   */
  public void reset() {
    modify(new QueuePairChange().state(QueuePairState.RESET));
  }

  /**
   * Changes any attributes, and the state: {@code ibv_modify_qp}.
   *
   * @param change what to change
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the state or the type does not allow it
   */
  public void modify(QueuePairChange change) {
    lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment changed = arena.allocate(ibv_qp_attr.layout());
            change.write(changed);
            NativeFailures.check(
                domain.device().info().name(),
                "ibv_modify_qp(" + change + ")",
                rdma_h.ibv_modify_qp(queuePair, changed, change.mask()));
            QueuePairState state = change.newState();
            if (state != null) {
              noteState(state);
            }
            return true;
          }
        });
  }

  /**
   * Limits how much is sent: {@code ibv_modify_qp_rate_limit}.
   *
   * @param limit the limit, see {@link ExtendedDeviceAttributes#packetPacing}
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the device refuses it: EOPNOTSUPP where it cannot limit
   */
  public void limitRate(RateLimit limit) {
    lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_qp_rate_limit_attr.layout());
            ibv_qp_rate_limit_attr.rate_limit(attributes, limit.rate());
            ibv_qp_rate_limit_attr.max_burst_sz(attributes, limit.maxBurst());
            ibv_qp_rate_limit_attr.typical_pkt_sz(attributes, (short) limit.typicalPacket());
            NativeFailures.check(
                domain.device().info().name(),
                "ibv_modify_qp_rate_limit(" + limit + ")",
                Verbs.ibv_modify_qp_rate_limit(queuePair, attributes));
            return true;
          }
        });
  }

  /**
   * What this end offers, or after READY_TO_RECEIVE what was agreed on: {@code ibv_query_ece}.
   *
   * @return the options
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the device has none
   */
  public Ece ece() {
    return lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment ece = arena.allocate(ibv_ece.layout());
            NativeFailures.check(
                domain.device().info().name(),
                "ibv_query_ece",
                rdma_h.ibv_query_ece(queuePair, ece));
            return Ece.read(ece);
          }
        });
  }

  /**
   * Sets what both ends are to use, {@code ibv_set_ece}, before READY_TO_RECEIVE. The device drops
   * the options that it does not know.
   *
   * @param ece what the peer offers
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where it fails: EOPNOTSUPP where the vendor is 0, or the device has none
   */
  public void setEce(Ece ece) {
    lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = arena.allocate(ibv_ece.layout());
            ece.write(wanted);
            NativeFailures.check(
                domain.device().info().name(),
                "ibv_set_ece(" + ece + ")",
                rdma_h.ibv_set_ece(queuePair, wanted));
            return true;
          }
        });
  }

  /**
   * Whether the bytes of an operation are written in their order, so that the last one tells of
   * those before it: {@code ibv_query_qp_data_in_order}.
   *
   * @param operation the operation
   * @return whether they are for sure; false on processors other than x86
   * @throws IllegalStateException where the queue pair is closed
   */
  public boolean isDataInOrder(SendOperation operation) {
    int opcode = AllowedOpcodes.opcode(operation);
    return lifetime.whileOpen(() -> rdma_h.ibv_query_qp_data_in_order(queuePair, opcode, 0) != 0);
  }

  /** Takes note of the state that it has come to. */
  void noteState(QueuePairState state) {
    takesReceives = state != QueuePairState.RESET;
    takesSends = config.sends() && STATES_THAT_TAKE_SENDS.contains(state);
  }

  /**
   * Has datagrams to a multicast group received: {@code ibv_attach_mcast}. The network must lead
   * them here: see the connection manager's join. Closing the queue pair ends it.
   *
   * @param group the group's GID
   * @param lid the group's local identifier on InfiniBand, 0 on RoCE
   * @throws IllegalArgumentException where the local identifier is out of range
   * @throws IllegalStateException where the queue pair is closed, or is not for datagrams
   * @throws RdmaException where the device refuses it
   */
  public void attachMulticast(Gid group, int lid) {
    steps.requireDatagrams();
    Range.check("lid", lid, 0, 0xffff);
    lifetime.whileOpen(
        () -> {
          groups.attach(group, lid);
          return true;
        });
  }

  /**
   * Ends what {@link #attachMulticast} began: {@code ibv_detach_mcast}.
   *
   * @param group the group's GID
   * @param lid the group's local identifier on InfiniBand, 0 on RoCE
   * @throws IllegalArgumentException where it is not attached to that group
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the device refuses it
   */
  public void detachMulticast(Gid group, int lid) {
    lifetime.whileOpen(
        () -> {
          groups.detach(group, lid);
          return true;
        });
  }

  /**
   * Makes room for send requests, off-heap, which one thread builds in place and posts together.
   *
   * @param max the most requests to post in one call, from 1 to the send depth granted
   * @return the room, empty
   * @throws IllegalArgumentException where the number is out of range
   * @throws IllegalStateException where the queue pair is closed, or of a type that sends nothing
   */
  public SendRequests sendRequests(int max) {
    if (!config.sends()) {
      throw new IllegalStateException(this + " is of type " + type + ", which sends nothing");
    }
    Range.check("max", max, 1, capabilities.sendDepth());
    return lifetime.whileOpen(
        () -> {
          sendRequests.claim(this, "SendRequests");
          return new SendRequests(this, max, posts);
        });
  }

  /**
   * Makes room for receive requests, off-heap, which one thread builds in place and posts together.
   *
   * @param max the most requests to post in one call, from 1 to the receive depth granted
   * @return the room, empty
   * @throws IllegalArgumentException where the number is out of range
   * @throws IllegalStateException where the queue pair is closed, or has a shared receive queue
   */
  public ReceiveRequests receiveRequests(int max) {
    SharedReceiveQueue shared = config.sharedReceiveQueue();
    if (shared != null) {
      throw new IllegalStateException(
          this + " receives by the " + shared + ": post receives there");
    }
    if (!config.receives()) {
      throw new IllegalStateException(
          this
              + " is of type "
              + type
              + ", for which shared receive queues or work queues receive");
    }
    Range.check("max", max, 1, capabilities.receiveDepth());
    return lifetime.whileOpen(
        () -> {
          receiveRequests.claim(this, "ReceiveRequests");
          return ReceiveRequests.of(this, max, posts);
        });
  }

  /**
   * The protection domain that this belongs to.
   *
   * @return the domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * The way out to the bindings: {@code struct ibv_qp *}. It is valid until this is closed; with
   * it, the promise that nothing crashes ends.
   *
   * @return the pointer
   * @throws IllegalStateException where the queue pair is closed
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> queuePair);
  }

  /**
   * Destroys the queue pair, {@code ibv_destroy_qp}, once no thread is inside a post. Outstanding
   * requests are gone, without a completion. Memory windows of type 2 that it was the last to bind
   * are closed before. Does nothing where it is closed.
   *
   * @throws RdmaException where the destruction fails
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** The pointer, for those whose life lies within this one's. */
  MemorySegment pointer() {
    return queuePair;
  }

  /** A call that posts to the send queue beside {@link SendRequests}, during which this is open. */
  <T> T whileSending(Supplier<T> call) {
    if (domain.hasThreadDomain()) {
      throw new IllegalStateException(this + " is in a thread domain: bind by SendRequests");
    }
    checkSends();
    return lifetime.whileOpen(call);
  }

  /** What it can post by {@code ibv_wr_*}; nothing where it posts by {@code ibv_post_send}. */
  Set<SendOperation> sendOperations() {
    return config.sendOperations();
  }

  /** The longest header of a segmented send. */
  int segmentHeaderBytes() {
    return config.segmentHeaderBytes();
  }

  Lifetime lifetime() {
    return lifetime;
  }

  @Nullable ExtendedQueuePair extended() {
    return extended;
  }

  /** The windows of type 2 that this bound. */
  BoundWindows windows() {
    return windows;
  }

  void checkReceives() {
    if (!takesReceives) {
      throw wrongState("receives can be posted once it is initialized: call initialize or connect");
    }
  }

  void checkSends() {
    if (!takesSends) {
      throw wrongState("sends can be posted once it is ready to send: call connect");
    }
  }

  private IllegalStateException wrongState(String remedy) {
    return new IllegalStateException(this + " is in state " + query().state() + "; " + remedy);
  }

  @Override
  public String toString() {
    return lifetime.toString();
  }
}
