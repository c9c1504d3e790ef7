package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** How a work request ended: {@code enum ibv_wc_status}. */
public enum CompletionStatus implements NativeConstant {
  /** It was done: {@code IBV_WC_SUCCESS}. */
  SUCCESS(rdma_h.IBV_WC_SUCCESS()),
  /**
   * A message was longer than the buffer that received it, or than the device can send: {@code
   * IBV_WC_LOC_LEN_ERR}.
   */
  LOCAL_LENGTH_ERROR(rdma_h.IBV_WC_LOC_LEN_ERR()),
  /** The queue pair could not carry the request out: {@code IBV_WC_LOC_QP_OP_ERR}. */
  LOCAL_QUEUE_PAIR_OPERATION_ERROR(rdma_h.IBV_WC_LOC_QP_OP_ERR()),
  /** An end-to-end context could not: {@code IBV_WC_LOC_EEC_OP_ERR}. */
  LOCAL_EE_CONTEXT_OPERATION_ERROR(rdma_h.IBV_WC_LOC_EEC_OP_ERR()),
  /**
   * A buffer of the request is not in a region with that local key and the needed access, or the
   * region was closed: {@code IBV_WC_LOC_PROT_ERR}.
   */
  LOCAL_PROTECTION_ERROR(rdma_h.IBV_WC_LOC_PROT_ERR()),
  /**
   * The queue pair went to the error state before the request was done: {@code
   * IBV_WC_WR_FLUSH_ERR}.
   */
  FLUSHED(rdma_h.IBV_WC_WR_FLUSH_ERR()),
  /** A memory window could not be bound: {@code IBV_WC_MW_BIND_ERR}. */
  MEMORY_WINDOW_BIND_ERROR(rdma_h.IBV_WC_MW_BIND_ERR()),
  /** The peer answered with an unexpected opcode: {@code IBV_WC_BAD_RESP_ERR}. */
  BAD_RESPONSE(rdma_h.IBV_WC_BAD_RESP_ERR()),
  /** A peer wrote with immediate data where it may not: {@code IBV_WC_LOC_ACCESS_ERR}. */
  LOCAL_ACCESS_ERROR(rdma_h.IBV_WC_LOC_ACCESS_ERR()),
  /**
   * The peer found the request invalid, such as a message longer than its buffer: {@code
   * IBV_WC_REM_INV_REQ_ERR}.
   */
  REMOTE_INVALID_REQUEST(rdma_h.IBV_WC_REM_INV_REQ_ERR()),
  /** The remote key, address or right was wrong: {@code IBV_WC_REM_ACCESS_ERR}. */
  REMOTE_ACCESS_ERROR(rdma_h.IBV_WC_REM_ACCESS_ERR()),
  /** The peer could not carry the request out: {@code IBV_WC_REM_OP_ERR}. */
  REMOTE_OPERATION_ERROR(rdma_h.IBV_WC_REM_OP_ERR()),
  /**
   * The peer did not answer within timeout and retries: it is gone, or the path to it is wrong:
   * {@code IBV_WC_RETRY_EXC_ERR}.
   */
  RETRY_EXCEEDED(rdma_h.IBV_WC_RETRY_EXC_ERR()),
  /** The peer had no receive posted within the RNR retries: {@code IBV_WC_RNR_RETRY_EXC_ERR}. */
  RECEIVER_NOT_READY_RETRY_EXCEEDED(rdma_h.IBV_WC_RNR_RETRY_EXC_ERR()),
  /** A violation of the reliable datagram domain: {@code IBV_WC_LOC_RDD_VIOL_ERR}. */
  LOCAL_RDD_VIOLATION(rdma_h.IBV_WC_LOC_RDD_VIOL_ERR()),
  /** The peer found a reliable datagram request invalid: {@code IBV_WC_REM_INV_RD_REQ_ERR}. */
  REMOTE_INVALID_RD_REQUEST(rdma_h.IBV_WC_REM_INV_RD_REQ_ERR()),
  /** The peer aborted the operation: {@code IBV_WC_REM_ABORT_ERR}. */
  REMOTE_ABORTED(rdma_h.IBV_WC_REM_ABORT_ERR()),
  /** An invalid end-to-end context number: {@code IBV_WC_INV_EECN_ERR}. */
  INVALID_EE_CONTEXT_NUMBER(rdma_h.IBV_WC_INV_EECN_ERR()),
  /** An invalid end-to-end context state: {@code IBV_WC_INV_EEC_STATE_ERR}. */
  INVALID_EE_CONTEXT_STATE(rdma_h.IBV_WC_INV_EEC_STATE_ERR()),
  /** A fatal error of the device: {@code IBV_WC_FATAL_ERR}. */
  FATAL_ERROR(rdma_h.IBV_WC_FATAL_ERR()),
  /** No response in time: {@code IBV_WC_RESP_TIMEOUT_ERR}. */
  RESPONSE_TIMEOUT(rdma_h.IBV_WC_RESP_TIMEOUT_ERR()),
  /** Any other error: {@code IBV_WC_GENERAL_ERR}. */
  GENERAL_ERROR(rdma_h.IBV_WC_GENERAL_ERR()),
  /** A tag matching operation failed: {@code IBV_WC_TM_ERR}. */
  TAG_MATCHING_ERROR(rdma_h.IBV_WC_TM_ERR()),
  /** A tagged rendezvous is to be finished by software: {@code IBV_WC_TM_RNDV_INCOMPLETE}. */
  TAG_MATCHING_RENDEZVOUS_INCOMPLETE(rdma_h.IBV_WC_TM_RNDV_INCOMPLETE());

  private final int value;

  CompletionStatus(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
