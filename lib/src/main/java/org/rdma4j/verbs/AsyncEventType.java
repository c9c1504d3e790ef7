package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * What an asynchronous event reports: {@code enum ibv_event_type}.
 *
 * @see AsyncEvent
 */
public enum AsyncEventType implements NativeConstant {
  /** A completion queue failed, usually because it overran: {@code IBV_EVENT_CQ_ERR}. */
  COMPLETION_QUEUE_ERROR(rdma_h.IBV_EVENT_CQ_ERR()),
  /** A queue pair failed and went to the state ERROR: {@code IBV_EVENT_QP_FATAL}. */
  QUEUE_PAIR_FATAL(rdma_h.IBV_EVENT_QP_FATAL()),
  /**
   * A queue pair received an invalid request and went to the state ERROR: {@code
   * IBV_EVENT_QP_REQ_ERR}.
   */
  QUEUE_PAIR_REQUEST_ERROR(rdma_h.IBV_EVENT_QP_REQ_ERR()),
  /**
   * A queue pair received a request that may not access the memory, and went to the state ERROR:
   * {@code IBV_EVENT_QP_ACCESS_ERR}.
   */
  QUEUE_PAIR_ACCESS_ERROR(rdma_h.IBV_EVENT_QP_ACCESS_ERR()),
  /**
   * A queue pair in the state READY_TO_RECEIVE received its first packet: {@code
   * IBV_EVENT_COMM_EST}.
   */
  COMMUNICATION_ESTABLISHED(rdma_h.IBV_EVENT_COMM_EST()),
  /**
   * A send queue that is being drained has finished the requests that it had begun: {@code
   * IBV_EVENT_SQ_DRAINED}.
   */
  SEND_QUEUE_DRAINED(rdma_h.IBV_EVENT_SQ_DRAINED()),
  /** A connection moved to its alternate path: {@code IBV_EVENT_PATH_MIG}. */
  PATH_MIGRATED(rdma_h.IBV_EVENT_PATH_MIG()),
  /** A connection failed to move to its alternate path: {@code IBV_EVENT_PATH_MIG_ERR}. */
  PATH_MIGRATION_ERROR(rdma_h.IBV_EVENT_PATH_MIG_ERR()),
  /** The device failed or was removed, and has to be closed: {@code IBV_EVENT_DEVICE_FATAL}. */
  DEVICE_FATAL(rdma_h.IBV_EVENT_DEVICE_FATAL()),
  /** The link of a port became active: {@code IBV_EVENT_PORT_ACTIVE}. */
  PORT_ACTIVE(rdma_h.IBV_EVENT_PORT_ACTIVE()),
  /** The link of a port became unavailable: {@code IBV_EVENT_PORT_ERR}. */
  PORT_ERROR(rdma_h.IBV_EVENT_PORT_ERR()),
  /** The local identifier of a port changed: {@code IBV_EVENT_LID_CHANGE}. */
  LID_CHANGE(rdma_h.IBV_EVENT_LID_CHANGE()),
  /** The partition key table of a port changed: {@code IBV_EVENT_PKEY_CHANGE}. */
  PARTITION_KEY_CHANGE(rdma_h.IBV_EVENT_PKEY_CHANGE()),
  /** The subnet manager of a port changed: {@code IBV_EVENT_SM_CHANGE}. */
  SUBNET_MANAGER_CHANGE(rdma_h.IBV_EVENT_SM_CHANGE()),
  /** A shared receive queue failed: {@code IBV_EVENT_SRQ_ERR}. */
  SHARED_RECEIVE_QUEUE_ERROR(rdma_h.IBV_EVENT_SRQ_ERR()),
  /**
   * A shared receive queue holds fewer requests than its limit: {@code
   * IBV_EVENT_SRQ_LIMIT_REACHED}.
   */
  SHARED_RECEIVE_QUEUE_LIMIT_REACHED(rdma_h.IBV_EVENT_SRQ_LIMIT_REACHED()),
  /**
   * A queue pair in the state ERROR has taken its last request from its shared receive queue:
   * {@code IBV_EVENT_QP_LAST_WQE_REACHED}.
   */
  LAST_REQUEST_REACHED(rdma_h.IBV_EVENT_QP_LAST_WQE_REACHED()),
  /**
   * The subnet manager requests the clients of a port to register again: {@code
   * IBV_EVENT_CLIENT_REREGISTER}.
   */
  CLIENT_REREGISTER(rdma_h.IBV_EVENT_CLIENT_REREGISTER()),
  /** The GID table of a port changed: {@code IBV_EVENT_GID_CHANGE}. */
  GID_CHANGE(rdma_h.IBV_EVENT_GID_CHANGE()),
  /** A work queue failed: {@code IBV_EVENT_WQ_FATAL}. */
  WORK_QUEUE_FATAL(rdma_h.IBV_EVENT_WQ_FATAL()),
  /**
   * The speed of one or several ports of the device changed: {@code IBV_EVENT_DEVICE_SPEED_CHANGE}.
   */
  DEVICE_SPEED_CHANGE(rdma_h.IBV_EVENT_DEVICE_SPEED_CHANGE()),
  /** An event of a newer kernel that this version does not know. */
  UNKNOWN(-1);

  private final int value;

  AsyncEventType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
