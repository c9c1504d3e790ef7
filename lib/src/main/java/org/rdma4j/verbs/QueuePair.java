package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.generated.ibv_ah_attr;
import org.rdma4j.bindings.generated.ibv_global_route;
import org.rdma4j.bindings.generated.ibv_qp;
import org.rdma4j.bindings.generated.ibv_qp_attr;
import org.rdma4j.bindings.generated.ibv_qp_cap;
import org.rdma4j.bindings.generated.ibv_qp_init_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.Calls;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.lifetime.Lifetime;

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
      Runnable releaseReservations) {
    this.domain = domain;
    this.queuePair = queuePair;
    this.capabilities = capabilities;
    HotCalls calls = new HotCalls();
    this.posts = calls;
    this.lifetime =
        new Lifetime(
            "queue pair " + ibv_qp.qp_num(queuePair) + " of " + domain.device().info().name(),
            () -> {
              calls.revoke();
              Native.check("ibv_destroy_qp", rdma_h.ibv_destroy_qp(queuePair));
              releaseReservations.run();
            },
            domain.lifetime(),
            config.sendCompletions().lifetime(),
            config.receiveCompletions().lifetime());
    Leaks.watch(this, lifetime);
  }

  /** In a call during which the domain and the completion queues are open. */
  static QueuePair create(ProtectionDomain domain, QueuePairConfig config) {
    Runnable release = reserve(config);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = arena.allocate(ibv_qp_init_attr.layout());
      MemorySegment cap = ibv_qp_init_attr.cap(init);
      ibv_qp_init_attr.send_cq(init, config.sendCompletions().queue());
      ibv_qp_init_attr.recv_cq(init, config.receiveCompletions().queue());
      ibv_qp_init_attr.qp_type(init, rdma_h.IBV_QPT_RC());
      ibv_qp_init_attr.sq_sig_all(init, config.signalAll() ? 1 : 0);
      ibv_qp_cap.max_send_wr(cap, config.sendDepth());
      ibv_qp_cap.max_recv_wr(cap, config.receiveDepth());
      ibv_qp_cap.max_send_sge(cap, config.sendSges());
      ibv_qp_cap.max_recv_sge(cap, config.receiveSges());
      ibv_qp_cap.max_inline_data(cap, config.inlineBytes());
      MemorySegment created =
          Native.created(
              "ibv_create_qp(" + QueuePairCapabilities.read(cap) + ")",
              Calls.pointer(rdma_h.ibv_create_qp$address(), domain.pointer(), init));
      return new QueuePair(domain, created, QueuePairCapabilities.read(cap), config, release);
    } catch (RuntimeException failed) {
      release.run();
      throw failed;
    }
  }

  /**
   * Promises entries of the completion queues to this queue pair; what it returns gives them back.
   */
  private static Runnable reserve(QueuePairConfig config) {
    if (config.mayOverrun()) {
      return () -> {};
    }
    CompletionQueue.Capacity sends = config.sendCompletions().reservations();
    CompletionQueue.Capacity receives = config.receiveCompletions().reservations();
    int sendDepth = config.sendDepth();
    int receiveDepth = config.receiveDepth();
    if (sends == receives) {
      sends.reserve((long) sendDepth + receiveDepth);
      return () -> sends.release((long) sendDepth + receiveDepth);
    }
    sends.reserve(sendDepth);
    try {
      receives.reserve(receiveDepth);
    } catch (IllegalArgumentException tooMany) {
      sends.release(sendDepth);
      throw tooMany;
    }
    return () -> {
      sends.release(sendDepth);
      receives.release(receiveDepth);
    };
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
   * What it was granted, at least what was asked for.
   *
   * @return the capacities
   */
  public QueuePairCapabilities capabilities() {
    return capabilities;
  }

  /**
   * What the peer has to be told to connect to this queue pair.
   *
   * @param port the local port, from 1
   * @param gidIndex the index of the local GID; {@link PathConfig#NO_GID} where packets carry none
   * @param sequenceNumber the packet sequence number to begin with, 0 to 0xffffff
   * @return the address
   * @throws IllegalArgumentException where there is no such port or GID, or the number is out of
   *     range
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where port or GID cannot be queried
   */
  public QueuePairAddress address(int port, int gidIndex, int sequenceNumber) {
    RdmaDevice device = domain.device();
    Gid gid = gidIndex == PathConfig.NO_GID ? Gid.ZERO : device.gid(port, gidIndex);
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
            Native.check(
                "ibv_query_qp", rdma_h.ibv_query_qp(queuePair, attributes, EVERY_ATTRIBUTE, init));
            return QueuePairAttributes.read(attributes);
          }
        });
  }

  /** What RC has, as ibv_query_qp takes it. */
  private static final int EVERY_ATTRIBUTE =
      rdma_h.IBV_QP_STATE()
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
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the state does not allow it
   */
  public void initialize(int port, int partitionKeyIndex, AccessFlag... access) {
    domain.device().checkPort(port);
    Arguments.checkRange("partitionKeyIndex", partitionKeyIndex, 0, 0xffff);
    int accessMask = NativeConstant.mask(List.of(access));
    modify(
        QueuePairState.INIT,
        rdma_h.IBV_QP_PKEY_INDEX() | rdma_h.IBV_QP_PORT() | rdma_h.IBV_QP_ACCESS_FLAGS(),
        attributes -> {
          ibv_qp_attr.pkey_index(attributes, (short) partitionKeyIndex);
          ibv_qp_attr.port_num(attributes, (byte) port);
          ibv_qp_attr.qp_access_flags(attributes, accessMask);
        });
  }

  /**
   * From INIT to READY_TO_RECEIVE, where messages of the peer are received: {@code ibv_modify_qp}.
   *
   * @param path how to reach the peer
   * @throws IllegalArgumentException where the path names a port, or a number of reads, that the
   *     device does not have
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the state does not allow it, or the path is invalid: on RoCE it
   *     needs a GID index
   */
  public void readyToReceive(PathConfig path) {
    domain.device().checkPort(path.port());
    Arguments.checkRange(
        "remoteReads", path.remoteReads(), 0, domain.device().limits().maxResponderReads());
    modify(
        QueuePairState.READY_TO_RECEIVE,
        rdma_h.IBV_QP_AV()
            | rdma_h.IBV_QP_PATH_MTU()
            | rdma_h.IBV_QP_DEST_QPN()
            | rdma_h.IBV_QP_RQ_PSN()
            | rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC()
            | rdma_h.IBV_QP_MIN_RNR_TIMER(),
        attributes -> {
          ibv_qp_attr.path_mtu(attributes, path.mtu().value());
          ibv_qp_attr.dest_qp_num(attributes, path.remote().queuePairNumber());
          ibv_qp_attr.rq_psn(attributes, path.remote().sequenceNumber());
          ibv_qp_attr.max_dest_rd_atomic(attributes, (byte) path.remoteReads());
          ibv_qp_attr.min_rnr_timer(attributes, (byte) path.minimumRnrTimer());
          addressVector(ibv_qp_attr.ah_attr(attributes), path);
        });
  }

  private static void addressVector(MemorySegment vector, PathConfig path) {
    ibv_ah_attr.dlid(vector, (short) path.remote().lid());
    ibv_ah_attr.sl(vector, (byte) path.serviceLevel());
    ibv_ah_attr.port_num(vector, (byte) path.port());
    if (path.hasGid()) {
      ibv_ah_attr.is_global(vector, (byte) 1);
      MemorySegment route = ibv_ah_attr.grh(vector);
      path.remote().gid().write(ibv_global_route.dgid(route));
      ibv_global_route.flow_label(route, path.flowLabel());
      ibv_global_route.sgid_index(route, (byte) path.gidIndex());
      ibv_global_route.hop_limit(route, (byte) path.hopLimit());
      ibv_global_route.traffic_class(route, (byte) path.trafficClass());
    }
  }

  /**
   * From READY_TO_RECEIVE to READY_TO_SEND, where sends are processed too: {@code ibv_modify_qp}.
   *
   * @param path how to reach the peer, the same as for {@link #readyToReceive}
   * @throws IllegalArgumentException where the path names a number of reads that the device does
   *     not have
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the state does not allow it
   */
  public void readyToSend(PathConfig path) {
    Arguments.checkRange("reads", path.reads(), 0, domain.device().limits().maxInitiatorReads());
    modify(
        QueuePairState.READY_TO_SEND,
        rdma_h.IBV_QP_TIMEOUT()
            | rdma_h.IBV_QP_RETRY_CNT()
            | rdma_h.IBV_QP_RNR_RETRY()
            | rdma_h.IBV_QP_SQ_PSN()
            | rdma_h.IBV_QP_MAX_QP_RD_ATOMIC(),
        attributes -> {
          ibv_qp_attr.timeout(attributes, (byte) path.timeout());
          ibv_qp_attr.retry_cnt(attributes, (byte) path.retries());
          ibv_qp_attr.rnr_retry(attributes, (byte) path.rnrRetry());
          ibv_qp_attr.sq_psn(attributes, path.localSequenceNumber());
          ibv_qp_attr.max_rd_atomic(attributes, (byte) path.reads());
        });
  }

  /**
   * Connects to the peer: {@link #initialize}, where it is still in RESET, {@link #readyToReceive}
   * and {@link #readyToSend}. The peer does the same; neither waits for the other.
   *
   * @param path how to reach the peer
   * @throws IllegalArgumentException where the path names what the device does not have
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the state does not allow it, or the path is invalid
   */
  public void connect(PathConfig path) {
    if (query().state() == QueuePairState.RESET) {
      initialize(path.port(), path.partitionKeyIndex(), path.access().toArray(new AccessFlag[0]));
    }
    readyToReceive(path);
    readyToSend(path);
  }

  /**
   * From READY_TO_SEND to SEND_QUEUE_DRAINED: sends that have begun are finished, further ones
   * wait.
   *
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the state does not allow it
   */
  public void drainSendQueue() {
    modify(QueuePairState.SEND_QUEUE_DRAINED, 0, attributes -> {});
  }

  /**
   * From SEND_QUEUE_DRAINED back to READY_TO_SEND.
   *
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the state does not allow it
   */
  public void resumeSendQueue() {
    modify(QueuePairState.READY_TO_SEND, 0, attributes -> {});
  }

  /**
   * To ERROR: every outstanding request, and every one that is posted from now on, completes with
   * {@link CompletionStatus#FLUSHED}.
   *
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the device refuses it
   */
  public void toError() {
    modify(QueuePairState.ERROR, 0, attributes -> {});
  }

  /**
   * To RESET: outstanding requests are gone, without a completion; it can be connected anew.
   *
   * @throws IllegalStateException where the queue pair is closed
   * @throws RdmaException where the device refuses it
   */
  public void reset() {
    modify(QueuePairState.RESET, 0, attributes -> {});
  }

  private void modify(QueuePairState state, int mask, Consumer<MemorySegment> attributes) {
    lifetime.whileOpen(
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment changed = arena.allocate(ibv_qp_attr.layout());
            ibv_qp_attr.qp_state(changed, state.value());
            attributes.accept(changed);
            Native.check(
                "ibv_modify_qp(to " + state + ")",
                rdma_h.ibv_modify_qp(queuePair, changed, rdma_h.IBV_QP_STATE() | mask));
            takesReceives = state != QueuePairState.RESET;
            takesSends = STATES_THAT_TAKE_SENDS.contains(state);
            return true;
          }
        });
  }

  /**
   * Makes room for send requests, off-heap, which one thread builds in place and posts together.
   *
   * @param most the most requests to post in one call, from 1 to the send depth granted
   * @return the room, empty
   * @throws IllegalArgumentException where the number is out of range
   * @throws IllegalStateException where the queue pair is closed
   */
  public SendRequests sendRequests(int most) {
    Arguments.checkRange("most", most, 1, capabilities.sendDepth());
    return lifetime.whileOpen(() -> new SendRequests(this, most, posts));
  }

  /**
   * Makes room for receive requests, off-heap, which one thread builds in place and posts together.
   *
   * @param most the most requests to post in one call, from 1 to the receive depth granted
   * @return the room, empty
   * @throws IllegalArgumentException where the number is out of range
   * @throws IllegalStateException where the queue pair is closed
   */
  public ReceiveRequests receiveRequests(int most) {
    Arguments.checkRange("most", most, 1, capabilities.receiveDepth());
    return lifetime.whileOpen(() -> new ReceiveRequests(this, most, posts));
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
   * requests are gone, without a completion. Does nothing where it is closed.
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
