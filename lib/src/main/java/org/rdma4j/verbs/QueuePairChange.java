package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_qp_attr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.Range;
import org.rdma4j.verbs.address.AddressVector;
import org.rdma4j.verbs.attribute.Mtu;

/**
 * What {@code ibv_modify_qp} is to change: {@code struct ibv_qp_attr}, and a mask that names what
 * was set here. Which attributes a state needs, and which it allows, depends on the type of the
 * queue pair; {@link QueuePair#connect} and its like know that.
 *
 * <p>Not for use by several threads at once.
 */
public final class QueuePairChange {
  private final List<Consumer<MemorySegment>> changes = new ArrayList<>();
  private int mask;
  private @Nullable QueuePairState state;

  /** Changes nothing yet. */
  public QueuePairChange() {}

  /** The one that the struct and the mask describe; it may be changed further. */
  static QueuePairChange of(MemorySegment attributes, int mask) {
    byte[] copy = attributes.toArray(ValueLayout.JAVA_BYTE);
    QueuePairChange change =
        new QueuePairChange().set(mask, a -> a.copyFrom(MemorySegment.ofArray(copy)));
    if ((mask & rdma_h.IBV_QP_STATE()) != 0) {
      change.state =
          NativeConstants.of(
              QueuePairState.class, ibv_qp_attr.qp_state(attributes), QueuePairState.UNKNOWN);
    }
    return change;
  }

  /**
   * The state to go to; without it the state stays.
   *
   * @param state the state
   * @return this
   */
  public QueuePairChange state(QueuePairState state) {
    this.state = state;
    return set(rdma_h.IBV_QP_STATE(), a -> ibv_qp_attr.qp_state(a, state.value()));
  }

  /**
   * The state that it is assumed to be in: {@code IBV_QP_CUR_STATE}.
   *
   * @param currentState the state
   * @return this
   */
  public QueuePairChange currentState(QueuePairState currentState) {
    return set(rdma_h.IBV_QP_CUR_STATE(), a -> ibv_qp_attr.cur_qp_state(a, currentState.value()));
  }

  /**
   * The local port: {@code IBV_QP_PORT}.
   *
   * @param port the port, from 1 to 255
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange port(int port) {
    Range.check("port", port, 1, 0xff);
    return set(rdma_h.IBV_QP_PORT(), a -> ibv_qp_attr.port_num(a, (byte) port));
  }

  /**
   * The index of the partition key: {@code IBV_QP_PKEY_INDEX}.
   *
   * @param partitionKeyIndex the index, 0 to 65535
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange partitionKeyIndex(int partitionKeyIndex) {
    Range.check("partitionKeyIndex", partitionKeyIndex, 0, 0xffff);
    return set(
        rdma_h.IBV_QP_PKEY_INDEX(), a -> ibv_qp_attr.pkey_index(a, (short) partitionKeyIndex));
  }

  /**
   * What the peer may do with memory of this side: {@code IBV_QP_ACCESS_FLAGS}.
   *
   * @param access the flags, replacing those before
   * @return this
   */
  public QueuePairChange access(Collection<AccessFlag> access) {
    int mask = NativeConstants.mask(access);
    return set(rdma_h.IBV_QP_ACCESS_FLAGS(), a -> ibv_qp_attr.qp_access_flags(a, mask));
  }

  /**
   * The key that datagrams to this queue pair must carry: {@code IBV_QP_QKEY}.
   *
   * @param queueKey any 32 bits
   * @return this
   */
  public QueuePairChange queueKey(int queueKey) {
    return set(rdma_h.IBV_QP_QKEY(), a -> ibv_qp_attr.qkey(a, queueKey));
  }

  /**
   * The way to the peer: {@code IBV_QP_AV}.
   *
   * @param addressVector the vector
   * @return this
   */
  public QueuePairChange addressVector(AddressVector addressVector) {
    return set(rdma_h.IBV_QP_AV(), a -> addressVector.write(ibv_qp_attr.ah_attr(a)));
  }

  /**
   * The largest payload of a packet: {@code IBV_QP_PATH_MTU}.
   *
   * @param mtu the size
   * @return this
   */
  public QueuePairChange mtu(Mtu mtu) {
    return set(rdma_h.IBV_QP_PATH_MTU(), a -> ibv_qp_attr.path_mtu(a, mtu.value()));
  }

  /**
   * How long to wait for an acknowledgement: {@code IBV_QP_TIMEOUT}.
   *
   * @param timeout 4.096 microseconds x 2^n, 0 to 31, of which 0 is forever
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange timeout(int timeout) {
    Range.check("timeout", timeout, 0, 31);
    return set(rdma_h.IBV_QP_TIMEOUT(), a -> ibv_qp_attr.timeout(a, (byte) timeout));
  }

  /**
   * How often to send again when no acknowledgement came: {@code IBV_QP_RETRY_CNT}.
   *
   * @param retries 0 to 7
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange retries(int retries) {
    Range.check("retries", retries, 0, 7);
    return set(rdma_h.IBV_QP_RETRY_CNT(), a -> ibv_qp_attr.retry_cnt(a, (byte) retries));
  }

  /**
   * How often to send again when the peer had no receive posted: {@code IBV_QP_RNR_RETRY}.
   *
   * @param rnrRetry 0 to 7, of which 7 is forever
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange rnrRetry(int rnrRetry) {
    Range.check("rnrRetry", rnrRetry, 0, 7);
    return set(rdma_h.IBV_QP_RNR_RETRY(), a -> ibv_qp_attr.rnr_retry(a, (byte) rnrRetry));
  }

  /**
   * The packet sequence number that the peer begins with: {@code IBV_QP_RQ_PSN}.
   *
   * @param receiveSequenceNumber 0 to 0xffffff
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange receiveSequenceNumber(int receiveSequenceNumber) {
    Range.check("receiveSequenceNumber", receiveSequenceNumber, 0, 0xff_ffff);
    return set(rdma_h.IBV_QP_RQ_PSN(), a -> ibv_qp_attr.rq_psn(a, receiveSequenceNumber));
  }

  /**
   * The packet sequence number to begin with: {@code IBV_QP_SQ_PSN}.
   *
   * @param sendSequenceNumber 0 to 0xffffff
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange sendSequenceNumber(int sendSequenceNumber) {
    Range.check("sendSequenceNumber", sendSequenceNumber, 0, 0xff_ffff);
    return set(rdma_h.IBV_QP_SQ_PSN(), a -> ibv_qp_attr.sq_psn(a, sendSequenceNumber));
  }

  /**
   * The most reads and atomics that are outstanding at the peer: {@code IBV_QP_MAX_QP_RD_ATOMIC}.
   *
   * @param reads 0 to 255
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange reads(int reads) {
    Range.check("reads", reads, 0, 0xff);
    return set(rdma_h.IBV_QP_MAX_QP_RD_ATOMIC(), a -> ibv_qp_attr.max_rd_atomic(a, (byte) reads));
  }

  /**
   * The most reads and atomics of the peer that are answered at once: {@code
   * IBV_QP_MAX_DEST_RD_ATOMIC}.
   *
   * @param remoteReads 0 to 255
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange remoteReads(int remoteReads) {
    Range.check("remoteReads", remoteReads, 0, 0xff);
    return set(
        rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC(),
        a -> ibv_qp_attr.max_dest_rd_atomic(a, (byte) remoteReads));
  }

  /**
   * How long the peer waits when it met no posted receive: {@code IBV_QP_MIN_RNR_TIMER}.
   *
   * @param minimumRnrTimer a code from 0 to 31, see {@link PathConfig}
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange minimumRnrTimer(int minimumRnrTimer) {
    Range.check("minimumRnrTimer", minimumRnrTimer, 0, 31);
    return set(
        rdma_h.IBV_QP_MIN_RNR_TIMER(), a -> ibv_qp_attr.min_rnr_timer(a, (byte) minimumRnrTimer));
  }

  /**
   * The peer: {@code IBV_QP_DEST_QPN}.
   *
   * @param remoteQueuePairNumber the number of its queue pair, 0 to 0xffffff
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange remoteQueuePairNumber(int remoteQueuePairNumber) {
    Range.check("remoteQueuePairNumber", remoteQueuePairNumber, 0, 0xff_ffff);
    return set(rdma_h.IBV_QP_DEST_QPN(), a -> ibv_qp_attr.dest_qp_num(a, remoteQueuePairNumber));
  }

  /**
   * Whether an asynchronous event tells that the send queue has drained, where the state goes to
   * SEND_QUEUE_DRAINED: {@code IBV_QP_EN_SQD_ASYNC_NOTIFY}.
   *
   * @param notifyWhenDrained whether it does
   * @return this
   */
  public QueuePairChange notifyWhenDrained(boolean notifyWhenDrained) {
    return set(
        rdma_h.IBV_QP_EN_SQD_ASYNC_NOTIFY(),
        a -> ibv_qp_attr.en_sqd_async_notify(a, (byte) (notifyWhenDrained ? 1 : 0)));
  }

  /**
   * The path to migrate to: {@code IBV_QP_ALT_PATH}.
   *
   * @param alternate the way to the peer, with the local port
   * @param partitionKeyIndex the index of the partition key there, 0 to 65535
   * @param timeout 4.096 microseconds x 2^n, 0 to 31
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange alternatePath(
      AddressVector alternate, int partitionKeyIndex, int timeout) {
    Range.check("partitionKeyIndex", partitionKeyIndex, 0, 0xffff);
    Range.check("timeout", timeout, 0, 31);
    return set(
        rdma_h.IBV_QP_ALT_PATH(),
        a -> {
          alternate.write(ibv_qp_attr.alt_ah_attr(a));
          ibv_qp_attr.alt_port_num(a, (byte) alternate.port());
          ibv_qp_attr.alt_pkey_index(a, (short) partitionKeyIndex);
          ibv_qp_attr.alt_timeout(a, (byte) timeout);
        });
  }

  /**
   * Which path it is to use: {@code IBV_QP_PATH_MIG_STATE}.
   *
   * @param pathMigrationState the state to go to
   * @return this
   */
  public QueuePairChange pathMigrationState(PathMigrationState pathMigrationState) {
    return set(
        rdma_h.IBV_QP_PATH_MIG_STATE(),
        a -> ibv_qp_attr.path_mig_state(a, pathMigrationState.value()));
  }

  /**
   * How long the queues are, on devices that can resize them: {@code IBV_QP_CAP}.
   *
   * @param capabilities what is wanted
   * @return this
   */
  public QueuePairChange capabilities(QueuePairCapabilities capabilities) {
    return set(rdma_h.IBV_QP_CAP(), a -> capabilities.write(ibv_qp_attr.cap(a)));
  }

  /**
   * The most that is sent: {@code IBV_QP_RATE_LIMIT}.
   *
   * @param rateLimit kilobits a second, 0 for no limit
   * @return this
   * @throws IllegalArgumentException if it is out of range
   */
  public QueuePairChange rateLimit(int rateLimit) {
    Range.check("rateLimit", rateLimit, 0, Integer.MAX_VALUE);
    return set(rdma_h.IBV_QP_RATE_LIMIT(), a -> ibv_qp_attr.rate_limit(a, rateLimit));
  }

  private QueuePairChange set(int bit, Consumer<MemorySegment> change) {
    mask |= bit;
    changes.add(change);
    return this;
  }

  int mask() {
    return mask;
  }

  /** The state to go to, where there is one. */
  @Nullable QueuePairState newState() {
    return state;
  }

  void write(MemorySegment attributes) {
    changes.forEach(change -> change.accept(attributes));
  }

  @Override
  public String toString() {
    return state == null ? "mask 0x" + Integer.toHexString(mask) : "to " + state;
  }
}
