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
import org.rdma4j.bindings.generated.ibv_qp_attach_comp_cntr_attr;
import org.rdma4j.bindings.generated.ibv_qp_attr;
import org.rdma4j.bindings.generated.ibv_qp_init_attr;
import org.rdma4j.bindings.generated.ibv_qp_rate_limit_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Verbs;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.ExtendedQueuePair;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.PollPause;
import org.rdma4j.inplace.InPlaceQueuePair;
import org.rdma4j.lifetime.BoundWindows;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NativeFailures;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SameDevice;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.CountedOperation;
import org.rdma4j.verbs.attribute.ExtendedDeviceAttributes;
import org.rdma4j.verbs.internal.QueuePairOrigin;

/**
 * A queue pair, {@code struct ibv_qp}: a send queue and a receive queue, to which work requests are
 * posted, and one end of the communication with other queue pairs. Most queue pairs are one end of
 * a reliable connection; {@link QueuePairType} lists the other types.
 *
 * <p>A new queue pair is in state RESET. {@link #connect} connects it to its peer, whose address
 * the program has to get by other means, for example over a socket:
 *
 * <pre>{@code
 * QueuePair queuePair = domain.createQueuePair(
 *     QueuePairConfig.reliable(completionQueue).sendDepth(16).receiveDepth(16));
 * QueuePairAddress local = queuePair.address();
 * QueuePairAddress remote = exchange(local);
 * queuePair.connect(PathConfig.to(remote));
 *
 * SendRequests requests = queuePair.sendRequests(16);
 * requests.add(1).send().from(region, 0, 64).signaled();
 * requests.post();
 * }</pre>
 *
 * <p>The outcome of a request is a work completion on the completion queue that the queue pair was
 * created with.
 *
 * <p>All methods may be called from any thread. Each thread that posts requests creates a batch of
 * its own, {@link SendRequests} or {@link ReceiveRequests}; several threads may post to one queue
 * pair at the same time.
 *
 * @see QueuePairConfig
 * @see PathConfig
 * @see SendRequests
 * @see ReceiveRequests
 * @see Completions
 * @see org.rdma4j.cm.CmId#createQueuePair
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
  private final Set<PollPause> pauses;

  /** What posts sends, if it is not {@code ibv_post_send}. */
  private final @Nullable ChainPosting sending;

  /** The queues, if they are used in place. */
  private final @Nullable InPlaceQueuePair inPlace;

  private final MulticastGroups groups;

  /** The memory windows of type 2 that this queue pair has bound: they belong to it. */
  private final BoundWindows windows = new BoundWindows();

  private final StateSteps steps = new StateSteps(this);
  private final int sequenceNumber;
  private final HotCalls posts;
  private final Lifetime lifetime;

  /*
   * Whether posts are refused, because some providers detect a wrong state only after they have
   * queued the request, and process it later. A change disarms all posts, so that the next one
   * looks at these fields. They need not be volatile: they protect a program from its own calls in
   * the wrong order.
   */
  private boolean takesReceives;
  private boolean takesSends;

  /** {@link QueuePairCreation} creates the native queue pair first. */
  QueuePair(
      ProtectionDomain domain,
      MemorySegment queuePair,
      QueuePairCapabilities capabilities,
      QueuePairConfig config,
      QueuePairOrigin origin,
      @Nullable InPlaceQueuePair inPlace,
      Runnable release) {
    this.domain = domain;
    this.queuePair = queuePair;
    this.capabilities = capabilities;
    this.type = config.type();
    this.config = config;
    this.sequenceNumber = config.sequenceNumberOrRandom();
    this.inPlace = inPlace;
    this.sending =
        config.sendOperations().isEmpty()
            ? inPlace == null ? null : inPlace.sends()
            : extended(domain.device(), queuePair, config);
    MulticastGroups attached = new MulticastGroups(domain.device().info(), queuePair);
    this.groups = attached;
    DeviceInfo device = domain.device().info();
    BoundWindows bound = windows;
    HotCalls calls = inPlace == null ? new HotCalls(domain.confinement()) : inPlace.calls();
    this.posts = calls;
    Set<PollPause> completions = config.pauses();
    this.pauses = completions;
    this.lifetime =
        new Lifetime(
            "queue pair " + ibv_qp.qp_num(queuePair) + " of " + device.name(),
            () -> {
              calls.revoke();
              // Soft-RoCE takes 50 s to destroy a queue pair that still has a window of type 2
              // bound.
              bound.closeBound();
              attached.detachAll();
              PollPause.runPaused(
                  completions,
                  () -> {
                    origin.destroy().accept(queuePair);
                    if (inPlace != null) {
                      inPlace.leave();
                    }
                  });
              release.run();
            },
            Stream.concat(config.dependsOn(domain).stream(), origin.dependsOn().stream())
                .distinct()
                .toArray(Lifetime[]::new));
    noteState(origin.state());
    domain.device().register(queuePair.address(), this, lifetime);
    Leaks.watch(this, lifetime);
  }

  private static ChainPosting extended(
      RdmaDevice device, MemorySegment queuePair, QueuePairConfig config) {
    ExtendedQueuePair extended =
        ExtendedQueuePair.of(
            queuePair,
            config.type().destination(),
            config.sendOperations().contains(SendOperation.SEND),
            device.callsCritically());
    return config.type() == QueuePairType.SCALABLE_RELIABLE_DATAGRAM
        ? ReliableDatagrams.posting(config, device, extended)
        : extended;
  }

  /**
   * Returns the number of this queue pair: peers address it by this number, and completions carry
   * it.
   *
   * @return the number, 0 to 0xffffff
   */
  public int number() {
    return lifetime.whileOpen(() -> ibv_qp.qp_num(queuePair));
  }

  /**
   * Returns how requests are posted to this queue pair, which is how its completion queues are
   * polled.
   *
   * @return BY_PROVIDER or IN_PLACE, also if the completion queues were created with {@link
   *     QueueAccess#IN_PLACE_WHERE_POSSIBLE}
   */
  public QueueAccess access() {
    return isInPlace() ? QueueAccess.IN_PLACE : QueueAccess.BY_PROVIDER;
  }

  /**
   * Returns the type of this queue pair.
   *
   * @return the type
   */
  public QueuePairType type() {
    return type;
  }

  /**
   * Returns the capacities that the device granted: at least the requested ones.
   *
   * @return the capacities
   */
  public QueuePairCapabilities capabilities() {
    return capabilities;
  }

  /**
   * Returns the packet sequence number of the first packet that this queue pair sends. {@link
   * #address} includes it, so that the peer learns it, and {@link #readyToSend} sets it.
   *
   * @return the number that the configuration gave, else one chosen at random when the queue pair
   *     was created; 0 to 0xffffff
   */
  public int sequenceNumber() {
    return sequenceNumber;
  }

  /**
   * Returns what the peer must know to connect to this queue pair over port 1, with the port's
   * {@link Port#preferredGid}.
   *
   * @return the address
   * @throws RdmaException if the port or the GID cannot be queried, or the port has no GID
   */
  public QueuePairAddress address() {
    return address(1, PathConfig.PREFERRED_GID);
  }

  /**
   * Returns what the peer must know to connect to this queue pair.
   *
   * @param port the local port, from 1
   * @param gidIndex the index of the local GID; {@link PathConfig#PREFERRED_GID} for that of {@link
   *     Port#preferredGid}; {@link PathConfig#NO_GID} if packets carry none
   * @return the address
   * @throws IllegalArgumentException if the device does not have the port or the GID
   * @throws RdmaException if the port or the GID cannot be queried
   */
  public QueuePairAddress address(int port, int gidIndex) {
    Port local = domain.device().port(port);
    Gid gid =
        switch (gidIndex) {
          case PathConfig.NO_GID -> Gid.ZERO;
          case PathConfig.PREFERRED_GID -> local.preferredGid().gid();
          default -> local.requireGid(gidIndex);
        };
    return new QueuePairAddress(local.attributes().lid(), number(), sequenceNumber, gid);
  }

  /**
   * Queries the queue pair: {@code ibv_query_qp}.
   *
   * @return its current attributes
   * @throws RdmaException if the query fails
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

  /** The attributes of every type of queue pair: ibv_query_qp accepts them for any type. */
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
   * Moves the queue pair from RESET to INIT: {@code ibv_modify_qp}. From then on receives can be
   * posted.
   *
   * @param port the local port, from 1
   * @param partitionKeyIndex the index of the partition key, 0 in most networks
   * @param access what the peer may do with memory of this side
   * @throws IllegalArgumentException if the device does not have the port
   * @throws IllegalStateException if the queue pair is closed, or is for datagrams
   * @throws RdmaException if the state does not allow it
   */
  public void initialize(int port, int partitionKeyIndex, AccessFlag... access) {
    steps.initialize(port, partitionKeyIndex, List.of(access));
  }

  /**
   * Moves a queue pair for datagrams from RESET to INIT: {@code ibv_modify_qp}. From then on
   * receives can be posted.
   *
   * @param port the local port, from 1
   * @param partitionKeyIndex the index of the partition key, 0 in most networks
   * @param queueKey the key that datagrams to this queue pair must carry
   * @throws IllegalArgumentException if the device does not have the port
   * @throws IllegalStateException if the queue pair is closed, or is not for datagrams
   * @throws RdmaException if the state does not allow it
   */
  public void initializeDatagrams(int port, int partitionKeyIndex, int queueKey) {
    steps.initializeDatagrams(port, partitionKeyIndex, queueKey);
  }

  /**
   * Moves the queue pair from INIT to READY_TO_RECEIVE: {@code ibv_modify_qp}. From then on it
   * receives messages from the peer.
   *
   * @param path how to reach the peer
   * @throws IllegalArgumentException if the path names a port, a GID index or a number of reads
   *     that the device does not have
   * @throws IllegalStateException if the queue pair is closed, or is for datagrams
   * @throws RdmaException if the state does not allow it, or the path is invalid; on RoCE a path
   *     needs a GID index
   */
  public void readyToReceive(PathConfig path) {
    steps.readyToReceive(path);
  }

  /**
   * Moves the queue pair from READY_TO_RECEIVE to READY_TO_SEND: {@code ibv_modify_qp}. From then
   * on it processes sends too.
   *
   * @param path how to reach the peer, the same as for {@link #readyToReceive}
   * @throws IllegalArgumentException if the path names a number of reads that the device does not
   *     have
   * @throws IllegalStateException if the queue pair is closed, or is for datagrams
   * @throws RdmaException if the state does not allow it
   */
  public void readyToSend(PathConfig path) {
    steps.readyToSend(path);
  }

  /**
   * Connects to the peer: calls {@link #initialize} if the queue pair is still in RESET, then
   * {@link #readyToReceive} and {@link #readyToSend}. The peer must do the same; neither side waits
   * for the other.
   *
   * @param path how to reach the peer
   * @throws IllegalArgumentException if the path names something that the device does not have,
   *     such as a port or a GID index
   * @throws IllegalStateException if the queue pair is closed, or is for datagrams
   * @throws RdmaException if the state does not allow it, or the path is invalid
   */
  public void connect(PathConfig path) {
    steps.connect(path);
  }

  /**
   * Starts sending and receiving datagrams: calls {@link #initializeDatagrams} if the queue pair is
   * still in RESET, then moves it to READY_TO_RECEIVE and READY_TO_SEND.
   *
   * @param port the local port, from 1
   * @param partitionKeyIndex the index of the partition key, 0 in most networks
   * @param queueKey the key that datagrams to this queue pair must carry
   * @throws IllegalArgumentException if the device does not have the port, or the index is out of
   *     range
   * @throws IllegalStateException if the queue pair is closed, or is not for datagrams
   * @throws RdmaException if the state does not allow it
   */
  public void startDatagrams(int port, int partitionKeyIndex, int queueKey) {
    steps.startDatagrams(port, partitionKeyIndex, queueKey);
  }

  /**
   * Starts sending and receiving reliable datagrams, as {@link #startDatagrams(int, int, int)}
   * does, with a number of retries: {@code ibv_modify_qp} with {@code rnr_retry}. Without a number,
   * the device decides it.
   *
   * @param port the local port, from 1
   * @param partitionKeyIndex the index of the partition key, 0
   * @param queueKey the key that datagrams to this queue pair must carry
   * @param rnrRetries how many times to send again if the peer had no receive posted, 0 to 7; 7
   *     means forever
   * @throws IllegalArgumentException if the device does not have the port, or a number is out of
   *     range
   * @throws IllegalStateException if the queue pair is closed, or is not of type
   *     SCALABLE_RELIABLE_DATAGRAM
   * @throws org.rdma4j.UnsupportedByDeviceException if the device does not have {@link
   *     org.rdma4j.verbs.attribute.EfaCapability#RNR_RETRY}
   * @throws RdmaException if the state does not allow it
   */
  public void startDatagrams(int port, int partitionKeyIndex, int queueKey, int rnrRetries) {
    steps.startDatagrams(port, partitionKeyIndex, queueKey, rnrRetries);
  }

  /**
   * Starts sending and receiving raw packets: moves the queue pair through INIT and
   * READY_TO_RECEIVE to READY_TO_SEND.
   *
   * @param port the local port, from 1
   * @throws IllegalArgumentException if the device does not have the port
   * @throws IllegalStateException if the queue pair is closed, or is not of type RAW_PACKET
   * @throws RdmaException if the state does not allow it
   */
  public void startRawPackets(int port) {
    steps.startRawPackets(port);
  }

  /**
   * Moves the queue pair from READY_TO_SEND to SEND_QUEUE_DRAINED: the device finishes the sends
   * that it has begun, and later ones wait. When they are finished, the device reports {@link
   * AsyncEventType#SEND_QUEUE_DRAINED}.
   *
   * @throws RdmaException if the state does not allow it
   */
  public void drainSendQueue() {
    modify(QueuePairChange.none().state(QueuePairState.SEND_QUEUE_DRAINED).notifyWhenDrained(true));
  }

  /**
   * Moves the queue pair from SEND_QUEUE_DRAINED back to READY_TO_SEND.
   *
   * @throws RdmaException if the state does not allow it
   */
  public void resumeSendQueue() {
    modify(QueuePairChange.none().state(QueuePairState.READY_TO_SEND));
  }

  /**
   * Moves the queue pair to ERROR: every outstanding request, and every request that is posted
   * later, completes with {@link CompletionStatus#FLUSHED}.
   *
   * @throws RdmaException if the device refuses it
   */
  public void toError() {
    modify(QueuePairChange.none().state(QueuePairState.ERROR));
  }

  /**
   * Moves the queue pair to RESET: outstanding requests are dropped without a completion. The queue
   * pair can then be connected again.
   *
   * @throws RdmaException if the device refuses it
   */
  public void reset() {
    modify(QueuePairChange.none().state(QueuePairState.RESET));
  }

  /**
   * Changes attributes of the queue pair, and its state if the change names one: {@code
   * ibv_modify_qp}.
   *
   * @param change what to change
   * @throws RdmaException if the state or the type does not allow it
   */
  public void modify(QueuePairChange change) {
    lifetime.run(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment changed = arena.allocate(ibv_qp_attr.layout());
            change.write(changed);
            NativeFailures.check(
                domain.device().info().name(),
                "ibv_modify_qp(" + change + ")",
                PollPause.whilePaused(pauses, () -> modify(changed, change)));
            QueuePairState state = change.newState();
            if (state != null) {
              noteState(state);
            }
          }
        });
  }

  private int modify(MemorySegment changed, QueuePairChange change) {
    int result = rdma_h.ibv_modify_qp(queuePair, changed, change.mask());
    if (result == 0 && inPlace != null && change.newState() == QueuePairState.RESET) {
      inPlace.reset();
    }
    return result;
  }

  /**
   * Limits the rate at which this queue pair sends: {@code ibv_modify_qp_rate_limit}.
   *
   * @param limit the limit, see {@link ExtendedDeviceAttributes#packetPacing}
   * @throws RdmaException if the device refuses it: EOPNOTSUPP if it cannot limit the rate
   */
  public void limitRate(RateLimit limit) {
    lifetime.run(
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
          }
        });
  }

  /**
   * Returns the enhanced connection options that this side offers, or the options in use once the
   * queue pair is in READY_TO_RECEIVE: {@code ibv_query_ece}.
   *
   * @return the options
   * @throws RdmaException if the query fails: EOPNOTSUPP if the device does not support such
   *     options
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
   * Sets the enhanced connection options that both sides are to use: {@code ibv_set_ece}. Call this
   * before the queue pair goes to READY_TO_RECEIVE. The device ignores options that it does not
   * know.
   *
   * @param ece the options that the peer offers
   * @throws RdmaException if the call fails: EOPNOTSUPP if the vendor is 0, or if the device does
   *     not support such options
   */
  public void setEce(Ece ece) {
    lifetime.run(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment options = arena.allocate(ibv_ece.layout());
            ece.write(options);
            NativeFailures.check(
                domain.device().info().name(),
                "ibv_set_ece(" + ece + ")",
                rdma_h.ibv_set_ece(queuePair, options));
          }
        });
  }

  /**
   * Returns the orders in which bytes of an operation are written to memory: {@code
   * ibv_query_qp_data_in_order} with {@code IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS}.
   *
   * @param operation the operation
   * @param deviceOnly whether to ask about the device alone, for memory that other processors than
   *     those of this host read, such as a GPU: {@code IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY}
   * @return the orders that are guaranteed; empty with providers that do not know these questions
   */
  public Set<DataOrder> dataOrder(SendOperation operation, boolean deviceOnly) {
    int opcode = AllowedOpcodes.opcode(operation);
    int flags =
        rdma_h.IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS()
            | (deviceOnly ? rdma_h.IBV_QUERY_QP_DATA_IN_ORDER_DEVICE_ONLY() : 0);
    return lifetime.whileOpen(
        () -> {
          int orders = rdma_h.ibv_query_qp_data_in_order(queuePair, opcode, flags);
          return NativeConstants.flags(DataOrder.class, orders);
        });
  }

  /**
   * Makes a completion counter count operations of this queue pair, until it is closed: {@code
   * ibv_qp_attach_comp_cntr}. Closing the counter closes this queue pair first.
   *
   * @param counter the counter
   * @param operations what it counts, at least one
   * @throws IllegalArgumentException if there are no operations, or the counter belongs to another
   *     device
   * @throws RdmaException if the device refuses it, for example because of the state of the queue
   *     pair
   */
  public void attach(CompletionCounter counter, CountedOperation... operations) {
    SameDevice.check("completion counter", counter.device(), domain.device());
    if (operations.length == 0) {
      throw new IllegalArgumentException("operations is empty, must have at least one");
    }
    int mask = NativeConstants.mask(List.of(operations));
    Lifetime.whileAllOpen(
        List.of(lifetime, counter.lifetime()),
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(ibv_qp_attach_comp_cntr_attr.layout());
            ibv_qp_attach_comp_cntr_attr.op_mask(attributes, mask);
            NativeFailures.check(
                domain.device().info().name(),
                "ibv_qp_attach_comp_cntr(" + List.of(operations) + ")",
                rdma_h.ibv_qp_attach_comp_cntr(queuePair, counter.pointer(), attributes));
          }
          lifetime.dependOn(counter.lifetime());
          return this;
        });
  }

  /**
   * Returns whether the device guarantees to write the bytes of an operation to memory in order:
   * {@code ibv_query_qp_data_in_order}. If so, a program that sees the last byte has all of the
   * others.
   *
   * @param operation the operation
   * @return whether the order is guaranteed; always false on processors other than x86
   */
  public boolean isDataInOrder(SendOperation operation) {
    int opcode = AllowedOpcodes.opcode(operation);
    return lifetime.whileOpen(() -> rdma_h.ibv_query_qp_data_in_order(queuePair, opcode, 0) != 0);
  }

  /** Records the state that the queue pair is now in. */
  void noteState(QueuePairState state) {
    takesReceives = state != QueuePairState.RESET;
    takesSends = config.sends() && STATES_THAT_TAKE_SENDS.contains(state);
    posts.disarm();
  }

  /**
   * Starts receiving the datagrams that are sent to a multicast group: {@code ibv_attach_mcast}.
   * This does not make the network deliver them to this port; joining the group with the connection
   * manager does. Closing the queue pair detaches it from its groups.
   *
   * @param group the group's GID
   * @param lid the group's local identifier on InfiniBand, 0 on RoCE
   * @throws IllegalArgumentException if the local identifier is out of range, or the queue pair is
   *     attached to that group with another one
   * @throws IllegalStateException if the queue pair is closed, or is not for datagrams
   * @throws RdmaException if the device refuses it
   */
  public void attachMulticast(Gid group, int lid) {
    steps.requireMulticast();
    Range.check("lid", lid, 0, 0xffff);
    lifetime.run(
        () -> {
          groups.attach(group, lid);
        });
  }

  /**
   * Stops receiving the datagrams of a multicast group that {@link #attachMulticast} named: {@code
   * ibv_detach_mcast}.
   *
   * @param group the group's GID
   * @param lid the group's local identifier on InfiniBand, 0 on RoCE
   * @throws IllegalArgumentException if the queue pair is not attached to that group
   * @throws RdmaException if the device refuses it
   */
  public void detachMulticast(Gid group, int lid) {
    lifetime.run(
        () -> {
          groups.detach(group, lid);
        });
  }

  /**
   * Creates a batch of send requests in native memory, which one thread fills and posts in one
   * call.
   *
   * @param max the maximum number of requests in one post, from 1 to the granted send depth
   * @return the batch, empty
   * @throws IllegalArgumentException if the number is out of range
   * @throws IllegalStateException if the queue pair is closed, or is of a type that does not send
   */
  public SendRequests sendRequests(int max) {
    if (!config.sends()) {
      throw new IllegalStateException(this + " is of type " + type + ", which does not send");
    }
    Range.check("max, which QueuePairConfig.sendDepth limits,", max, 1, capabilities.sendDepth());
    return lifetime.whileOpen(() -> new SendRequests(this, max, posts));
  }

  /**
   * Creates a batch of receive requests in native memory, which one thread fills and posts in one
   * call.
   *
   * @param max the maximum number of requests in one post, from 1 to the granted receive depth
   * @return the batch, empty
   * @throws IllegalArgumentException if the number is out of range
   * @throws IllegalStateException if the queue pair is closed, or does not have a receive queue of
   *     its own
   */
  public ReceiveRequests receiveRequests(int max) {
    SharedReceiveQueue shared = config.sharedReceiveQueue();
    if (shared != null) {
      throw new IllegalStateException(
          this + " receives through the " + shared + "; post receives there");
    }
    if (!config.receives()) {
      throw new IllegalStateException(
          this
              + " is of type "
              + type
              + ", which has no receive queue;"
              + " post receives to its shared receive queues or work queues");
    }
    Range.check("max, which the receive depth limits,", max, 1, capabilities.receiveDepth());
    return lifetime.whileOpen(() -> ReceiveRequests.of(this, max, posts));
  }

  /**
   * Returns the protection domain that this belongs to.
   *
   * @return the domain
   */
  public ProtectionDomain domain() {
    return domain;
  }

  /**
   * Returns the native {@code struct ibv_qp *}, for use with the bindings. It is valid until this
   * object is closed; code that uses it can crash the JVM.
   *
   * @return the pointer
   */
  public MemorySegment handle() {
    return lifetime.whileOpen(() -> queuePair);
  }

  /**
   * Destroys the queue pair, {@code ibv_destroy_qp}, once no thread is inside a post. Outstanding
   * requests are dropped without a completion. Memory windows of type 2 that were last bound by
   * this queue pair are closed first. Does nothing if it is already closed.
   *
   * @throws RdmaException if the destruction fails
   */
  @Override
  public void close() {
    lifetime.close();
  }

  /** Returns the pointer without a check, for callers that keep this open. */
  MemorySegment pointer() {
    return queuePair;
  }

  /**
   * Runs a call that posts to the send queue without {@link SendRequests}, and keeps this open
   * during it.
   */
  <T> T whileSending(Supplier<T> call) {
    if (domain.hasThreadDomain()) {
      throw new IllegalStateException(this + " is in a thread domain; bind with SendRequests.bind");
    }
    if (inPlace != null) {
      throw new IllegalStateException(
          this + " is used in place, where windows cannot be bound; use QueueAccess.BY_PROVIDER");
    }
    checkSends();
    return lifetime.whileOpen(call);
  }

  /**
   * Returns the operations that are posted by {@code ibv_wr_*}; none if {@code ibv_post_send} is
   * used.
   */
  Set<SendOperation> sendOperations() {
    return config.sendOperations();
  }

  /** Returns the maximum length in bytes of the header of a segmented send. */
  int segmentHeaderBytes() {
    return config.segmentHeaderBytes();
  }

  Lifetime lifetime() {
    return lifetime;
  }

  boolean isExtended() {
    return !config.sendOperations().isEmpty();
  }

  boolean isInPlace() {
    return inPlace != null;
  }

  /** Returns what posts sends; null if {@code ibv_post_send} does. */
  @Nullable ChainPosting sending() {
    return sending;
  }

  /** Returns what posts receives; null if {@code ibv_post_recv} does. */
  @Nullable ChainPosting receiving() {
    return inPlace == null ? null : inPlace.receives();
  }

  /** Returns the memory windows of type 2 that this queue pair has bound. */
  BoundWindows windows() {
    return windows;
  }

  boolean takesReceives() {
    return takesReceives;
  }

  boolean takesSends() {
    return takesSends;
  }

  void checkReceives() {
    if (!takesReceives) {
      throw wrongState("call initialize or connect before posting receives");
    }
  }

  void checkSends() {
    if (!takesSends) {
      throw wrongState("call connect before posting sends");
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
