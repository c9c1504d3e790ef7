package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_qp_attr;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.verbs.address.AddressVector;

/**
 * The attributes of a queue pair, as {@code ibv_query_qp} returns them: {@code struct ibv_qp_attr}.
 * The attributes of the path are valid from state READY_TO_RECEIVE on, those of sending from
 * READY_TO_SEND on.
 *
 * @param state the state of the queue pair
 * @param mtu the maximum payload of a packet, as a value of {@code enum ibv_mtu}; 0 if it is not
 *     set
 * @param receiveSequenceNumber the packet sequence number of receives
 * @param sendSequenceNumber the packet sequence number of sends
 * @param remoteQueuePairNumber the number of the peer's queue pair
 * @param access what the peer may do with memory of this side
 * @param capabilities the granted capacities
 * @param partitionKeyIndex the index of the partition key
 * @param draining whether the send queue is draining
 * @param reads the maximum number of reads and atomics of this side that are outstanding at a time
 * @param remoteReads the maximum number of reads and atomics of the peer that this side processes
 *     at a time
 * @param minimumRnrTimer the code of the RNR timer, see {@link PathConfig}
 * @param port the local port
 * @param timeout the exponent of the timeout, see {@link PathConfig}
 * @param retries how many times to send again if no acknowledgement came
 * @param rnrRetries how many times to send again if the peer had no receive posted
 * @param queueKey the key that datagrams to this queue pair must carry
 * @param addressVector the path to the peer; null if none is set
 * @param alternatePath the alternate path, which the queue pair can migrate to; null if none is set
 * @param pathMigrationState the state of path migration
 * @param rateLimit the maximum rate of sending in kilobits per second; 0 for no limit
 * @see QueuePair#query
 * @see QueuePairChange
 */
public record QueuePairAttributes(
    QueuePairState state,
    int mtu,
    int receiveSequenceNumber,
    int sendSequenceNumber,
    int remoteQueuePairNumber,
    Set<AccessFlag> access,
    QueuePairCapabilities capabilities,
    int partitionKeyIndex,
    boolean draining,
    int reads,
    int remoteReads,
    int minimumRnrTimer,
    int port,
    int timeout,
    int retries,
    int rnrRetries,
    int queueKey,
    @Nullable AddressVector addressVector,
    @Nullable AddressVector alternatePath,
    PathMigrationState pathMigrationState,
    int rateLimit) {
  static QueuePairAttributes read(MemorySegment a) {
    return new QueuePairAttributes(
        NativeConstants.of(QueuePairState.class, ibv_qp_attr.qp_state(a), QueuePairState.UNKNOWN),
        ibv_qp_attr.path_mtu(a),
        ibv_qp_attr.rq_psn(a),
        ibv_qp_attr.sq_psn(a),
        ibv_qp_attr.dest_qp_num(a),
        NativeConstants.flags(AccessFlag.class, ibv_qp_attr.qp_access_flags(a)),
        QueuePairCapabilities.read(ibv_qp_attr.cap(a)),
        Short.toUnsignedInt(ibv_qp_attr.pkey_index(a)),
        ibv_qp_attr.sq_draining(a) != 0,
        Byte.toUnsignedInt(ibv_qp_attr.max_rd_atomic(a)),
        Byte.toUnsignedInt(ibv_qp_attr.max_dest_rd_atomic(a)),
        Byte.toUnsignedInt(ibv_qp_attr.min_rnr_timer(a)),
        Byte.toUnsignedInt(ibv_qp_attr.port_num(a)),
        Byte.toUnsignedInt(ibv_qp_attr.timeout(a)),
        Byte.toUnsignedInt(ibv_qp_attr.retry_cnt(a)),
        Byte.toUnsignedInt(ibv_qp_attr.rnr_retry(a)),
        ibv_qp_attr.qkey(a),
        AddressVector.read(ibv_qp_attr.ah_attr(a)),
        AddressVector.read(ibv_qp_attr.alt_ah_attr(a)),
        NativeConstants.of(
            PathMigrationState.class, ibv_qp_attr.path_mig_state(a), PathMigrationState.MIGRATED),
        ibv_qp_attr.rate_limit(a));
  }
}
