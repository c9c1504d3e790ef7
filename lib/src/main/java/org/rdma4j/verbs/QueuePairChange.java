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
 * A change of a queue pair by {@code ibv_modify_qp}: {@code struct ibv_qp_attr}, with a mask of the
 * attributes that were set here. Immutable; the methods that set an attribute return a changed
 * copy.
 *
 * <pre>{@code
 * queuePair.modify(QueuePairChange.none().timeout(16).retries(6));
 * }</pre>
 *
 * <p>Which attributes a change of state requires and allows depends on the type of the queue pair.
 * {@link QueuePair#connect}, {@link QueuePair#startDatagrams} and {@link QueuePair#startRawPackets}
 * set the right ones.
 *
 * @see QueuePair#modify
 * @see QueuePairAttributes
 * @see PathConfig
 */
public final class QueuePairChange {
  private static final QueuePairChange NONE = new QueuePairChange(List.of(), 0, null);

  private final List<Consumer<MemorySegment>> changes;
  private final int mask;
  private final @Nullable QueuePairState state;

  private QueuePairChange(
      List<Consumer<MemorySegment>> changes, int mask, @Nullable QueuePairState state) {
    this.changes = changes;
    this.mask = mask;
    this.state = state;
  }

  /**
   * Returns an empty change, to which others are added.
   *
   * @return the change
   */
  public static QueuePairChange none() {
    return NONE;
  }

  /** Returns a change with the attributes of the struct that are in the mask; more can be set. */
  static QueuePairChange of(MemorySegment attributes, int mask) {
    byte[] copy = attributes.toArray(ValueLayout.JAVA_BYTE);
    QueuePairState state =
        (mask & rdma_h.IBV_QP_STATE()) == 0
            ? null
            : NativeConstants.of(
                QueuePairState.class, ibv_qp_attr.qp_state(attributes), QueuePairState.UNKNOWN);
    return new QueuePairChange(List.of(a -> a.copyFrom(MemorySegment.ofArray(copy))), mask, state);
  }

  /**
   * Returns a copy that sets the new state of the queue pair, {@code IBV_QP_STATE}. Without it, the
   * state does not change.
   *
   * @param state the new state
   * @return the copy
   */
  public QueuePairChange state(QueuePairState state) {
    QueuePairChange change =
        with(rdma_h.IBV_QP_STATE(), a -> ibv_qp_attr.qp_state(a, state.value()));
    return new QueuePairChange(change.changes, change.mask, state);
  }

  /**
   * Returns a copy that sets the state that the device is to assume that the queue pair is in:
   * {@code IBV_QP_CUR_STATE}.
   *
   * @param currentState the current state
   * @return the copy
   */
  public QueuePairChange currentState(QueuePairState currentState) {
    return with(rdma_h.IBV_QP_CUR_STATE(), a -> ibv_qp_attr.cur_qp_state(a, currentState.value()));
  }

  /**
   * Returns a copy that sets the local port: {@code IBV_QP_PORT}.
   *
   * @param port the port, from 1 to 255
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange port(int port) {
    Range.check("port", port, 1, 0xff);
    return with(rdma_h.IBV_QP_PORT(), a -> ibv_qp_attr.port_num(a, (byte) port));
  }

  /**
   * Returns a copy that sets the index of the partition key: {@code IBV_QP_PKEY_INDEX}.
   *
   * @param partitionKeyIndex the index, 0 to 65535
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange partitionKeyIndex(int partitionKeyIndex) {
    Range.check("partitionKeyIndex", partitionKeyIndex, 0, 0xffff);
    return with(
        rdma_h.IBV_QP_PKEY_INDEX(), a -> ibv_qp_attr.pkey_index(a, (short) partitionKeyIndex));
  }

  /**
   * Returns a copy that sets what the peer may do with memory of this side: {@code
   * IBV_QP_ACCESS_FLAGS}.
   *
   * @param access the flags, which replace the present ones
   * @return the copy
   */
  public QueuePairChange access(AccessFlag... access) {
    return access(List.of(access));
  }

  /**
   * Returns a copy that sets what the peer may do with memory of this side: {@code
   * IBV_QP_ACCESS_FLAGS}.
   *
   * @param access the flags, which replace the present ones
   * @return the copy
   */
  public QueuePairChange access(Collection<AccessFlag> access) {
    int mask = NativeConstants.mask(access);
    return with(rdma_h.IBV_QP_ACCESS_FLAGS(), a -> ibv_qp_attr.qp_access_flags(a, mask));
  }

  /**
   * Returns a copy that sets the key that datagrams to this queue pair must carry: {@code
   * IBV_QP_QKEY}.
   *
   * @param queueKey any 32 bits
   * @return the copy
   */
  public QueuePairChange queueKey(int queueKey) {
    return with(rdma_h.IBV_QP_QKEY(), a -> ibv_qp_attr.qkey(a, queueKey));
  }

  /**
   * Returns a copy that sets the path to the peer: {@code IBV_QP_AV}.
   *
   * @param addressVector the address vector
   * @return the copy
   */
  public QueuePairChange addressVector(AddressVector addressVector) {
    return with(rdma_h.IBV_QP_AV(), a -> addressVector.write(ibv_qp_attr.ah_attr(a)));
  }

  /**
   * Returns a copy that sets the maximum payload of a packet: {@code IBV_QP_PATH_MTU}.
   *
   * @param mtu the maximum payload
   * @return the copy
   */
  public QueuePairChange mtu(Mtu mtu) {
    return with(rdma_h.IBV_QP_PATH_MTU(), a -> ibv_qp_attr.path_mtu(a, mtu.value()));
  }

  /**
   * Returns a copy that sets how long to wait for an acknowledgement before sending again: {@code
   * IBV_QP_TIMEOUT}.
   *
   * @param timeout the time as 4.096 microseconds x 2^timeout, 0 to 31; 0 means to wait forever
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange timeout(int timeout) {
    Range.check("timeout", timeout, 0, 31);
    return with(rdma_h.IBV_QP_TIMEOUT(), a -> ibv_qp_attr.timeout(a, (byte) timeout));
  }

  /**
   * Returns a copy that sets how often to send again if no acknowledgement came: {@code
   * IBV_QP_RETRY_CNT}.
   *
   * @param retries the number of retries, 0 to 7; soft-RoCE (Linux 6.1) treats 7 as forever
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange retries(int retries) {
    Range.check("retries", retries, 0, 7);
    return with(rdma_h.IBV_QP_RETRY_CNT(), a -> ibv_qp_attr.retry_cnt(a, (byte) retries));
  }

  /**
   * Returns a copy that sets how often to send again if the peer had no receive posted: {@code
   * IBV_QP_RNR_RETRY}.
   *
   * @param rnrRetries the number of retries, 0 to 7; 7 means forever
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange rnrRetries(int rnrRetries) {
    Range.check("rnrRetries", rnrRetries, 0, 7);
    return with(rdma_h.IBV_QP_RNR_RETRY(), a -> ibv_qp_attr.rnr_retry(a, (byte) rnrRetries));
  }

  /**
   * Returns a copy that sets the packet sequence number of the first packet that the peer sends:
   * {@code IBV_QP_RQ_PSN}.
   *
   * @param receiveSequenceNumber the packet sequence number, 0 to 0xffffff
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange receiveSequenceNumber(int receiveSequenceNumber) {
    Range.check("receiveSequenceNumber", receiveSequenceNumber, 0, 0xff_ffff);
    return with(rdma_h.IBV_QP_RQ_PSN(), a -> ibv_qp_attr.rq_psn(a, receiveSequenceNumber));
  }

  /**
   * Returns a copy that sets the packet sequence number of the first packet that this side sends:
   * {@code IBV_QP_SQ_PSN}.
   *
   * @param sendSequenceNumber the packet sequence number, 0 to 0xffffff
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange sendSequenceNumber(int sendSequenceNumber) {
    Range.check("sendSequenceNumber", sendSequenceNumber, 0, 0xff_ffff);
    return with(rdma_h.IBV_QP_SQ_PSN(), a -> ibv_qp_attr.sq_psn(a, sendSequenceNumber));
  }

  /**
   * Returns a copy that sets the maximum number of reads and atomics of this side that are
   * outstanding at a time: {@code IBV_QP_MAX_QP_RD_ATOMIC}.
   *
   * @param reads the maximum, 0 to 255
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange reads(int reads) {
    Range.check("reads", reads, 0, 0xff);
    return with(rdma_h.IBV_QP_MAX_QP_RD_ATOMIC(), a -> ibv_qp_attr.max_rd_atomic(a, (byte) reads));
  }

  /**
   * Returns a copy that sets the maximum number of reads and atomics of the peer that this side
   * processes at a time: {@code IBV_QP_MAX_DEST_RD_ATOMIC}.
   *
   * @param remoteReads the maximum, 0 to 255
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange remoteReads(int remoteReads) {
    Range.check("remoteReads", remoteReads, 0, 0xff);
    return with(
        rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC(),
        a -> ibv_qp_attr.max_dest_rd_atomic(a, (byte) remoteReads));
  }

  /**
   * Returns a copy that sets how long the peer waits before it sends again if this side had no
   * receive posted: {@code IBV_QP_MIN_RNR_TIMER}.
   *
   * @param minimumRnrTimer a code from 0 to 31, see {@link PathConfig}
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange minimumRnrTimer(int minimumRnrTimer) {
    Range.check("minimumRnrTimer", minimumRnrTimer, 0, 31);
    return with(
        rdma_h.IBV_QP_MIN_RNR_TIMER(), a -> ibv_qp_attr.min_rnr_timer(a, (byte) minimumRnrTimer));
  }

  /**
   * Returns a copy that sets the number of the peer's queue pair: {@code IBV_QP_DEST_QPN}.
   *
   * @param remoteQueuePairNumber the number, 0 to 0xffffff
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange remoteQueuePairNumber(int remoteQueuePairNumber) {
    Range.check("remoteQueuePairNumber", remoteQueuePairNumber, 0, 0xff_ffff);
    return with(rdma_h.IBV_QP_DEST_QPN(), a -> ibv_qp_attr.dest_qp_num(a, remoteQueuePairNumber));
  }

  /**
   * Returns a copy that sets whether an asynchronous event is raised when the send queue has
   * drained, after a change to state SEND_QUEUE_DRAINED: {@code IBV_QP_EN_SQD_ASYNC_NOTIFY}.
   *
   * @param notifyWhenDrained whether the event is raised
   * @return the copy
   */
  public QueuePairChange notifyWhenDrained(boolean notifyWhenDrained) {
    return with(
        rdma_h.IBV_QP_EN_SQD_ASYNC_NOTIFY(),
        a -> ibv_qp_attr.en_sqd_async_notify(a, (byte) (notifyWhenDrained ? 1 : 0)));
  }

  /**
   * Returns a copy that sets the alternate path, which the connection can migrate to: {@code
   * IBV_QP_ALT_PATH}.
   *
   * @param alternate the path to the peer, with the local port
   * @param partitionKeyIndex the index of the partition key on that port, 0 to 65535
   * @param timeout how long to wait for an acknowledgement, as 4.096 microseconds x 2^timeout, 0 to
   *     31
   * @return the copy
   * @throws IllegalArgumentException if a number is out of range
   */
  public QueuePairChange alternatePath(
      AddressVector alternate, int partitionKeyIndex, int timeout) {
    Range.check("partitionKeyIndex", partitionKeyIndex, 0, 0xffff);
    Range.check("timeout", timeout, 0, 31);
    return with(
        rdma_h.IBV_QP_ALT_PATH(),
        a -> {
          alternate.write(ibv_qp_attr.alt_ah_attr(a));
          ibv_qp_attr.alt_port_num(a, (byte) alternate.port());
          ibv_qp_attr.alt_pkey_index(a, (short) partitionKeyIndex);
          ibv_qp_attr.alt_timeout(a, (byte) timeout);
        });
  }

  /**
   * Returns a copy that sets the path migration state, which determines the path that is used:
   * {@code IBV_QP_PATH_MIG_STATE}.
   *
   * @param pathMigrationState the new path migration state
   * @return the copy
   */
  public QueuePairChange pathMigrationState(PathMigrationState pathMigrationState) {
    return with(
        rdma_h.IBV_QP_PATH_MIG_STATE(),
        a -> ibv_qp_attr.path_mig_state(a, pathMigrationState.value()));
  }

  /**
   * Returns a copy that sets the capacities of the queue pair, on devices that can change them:
   * {@code IBV_QP_CAP}.
   *
   * @param capabilities the new capacities
   * @return the copy
   */
  public QueuePairChange capabilities(QueuePairCapabilities capabilities) {
    return with(rdma_h.IBV_QP_CAP(), a -> capabilities.write(ibv_qp_attr.cap(a)));
  }

  /**
   * Returns a copy that sets the maximum rate of sending: {@code IBV_QP_RATE_LIMIT}.
   *
   * @param rateLimit the rate in kilobits per second; 0 for no limit
   * @return the copy
   * @throws IllegalArgumentException if the number is out of range
   */
  public QueuePairChange rateLimit(int rateLimit) {
    Range.check("rateLimit", rateLimit, 0, Integer.MAX_VALUE);
    return with(rdma_h.IBV_QP_RATE_LIMIT(), a -> ibv_qp_attr.rate_limit(a, rateLimit));
  }

  private QueuePairChange with(int bit, Consumer<MemorySegment> change) {
    List<Consumer<MemorySegment>> all = new ArrayList<>(changes);
    all.add(change);
    return new QueuePairChange(List.copyOf(all), mask | bit, state);
  }

  int mask() {
    return mask;
  }

  /** Returns the new state; null if the state does not change. */
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
