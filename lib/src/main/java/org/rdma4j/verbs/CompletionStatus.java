package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * How a work request ended: {@code enum ibv_wc_status}.
 *
 * @see Completions#status
 * @see WorkCompletionException
 */
public enum CompletionStatus implements NativeConstant {
  /** The request was carried out: {@code IBV_WC_SUCCESS}. */
  SUCCESS(rdma_h.IBV_WC_SUCCESS(), ""),
  /**
   * A message was longer than the buffer of the receive that took it, or than the device can send:
   * {@code IBV_WC_LOC_LEN_ERR}.
   */
  LOCAL_LENGTH_ERROR(
      rdma_h.IBV_WC_LOC_LEN_ERR(),
      "A message is longer than the receive that took it, or than the device can send: post"
          + " longer receives, or send shorter messages"),
  /**
   * The queue pair could not carry out the request: {@code IBV_WC_LOC_QP_OP_ERR}. Soft-RoCE also
   * reports this status instead of {@link #LOCAL_PROTECTION_ERROR}.
   */
  LOCAL_QUEUE_PAIR_OPERATION_ERROR(
      rdma_h.IBV_WC_LOC_QP_OP_ERR(),
      "The queue pair could not carry out the request: check that its memory regions are open,"
          + " are of the queue pair's protection domain and grant the access, and that the queue"
          + " pair's type allows the opcode. If they are, look whether the local address of the"
          + " connection was removed from its network interface: its GID goes with it"),
  /**
   * An end-to-end context of reliable datagrams could not carry out the request: {@code
   * IBV_WC_LOC_EEC_OP_ERR}.
   */
  LOCAL_EE_CONTEXT_OPERATION_ERROR(
      rdma_h.IBV_WC_LOC_EEC_OP_ERR(),
      "This status belongs to reliable datagrams, which this library does not use: report it to"
          + " the device's vendor"),
  /**
   * A piece (scatter/gather element) of the request is not in a memory region with that local key
   * and the required access, or the region was closed: {@code IBV_WC_LOC_PROT_ERR}.
   */
  LOCAL_PROTECTION_ERROR(
      rdma_h.IBV_WC_LOC_PROT_ERR(),
      "Local memory of the request is not in an open memory region of the queue pair's protection"
          + " domain, or the region does not grant the access: keep regions open until their"
          + " requests have completed, and register memory that receives, reads and atomics write"
          + " to with LOCAL_WRITE"),
  /**
   * The queue pair went to the state ERROR before the request was carried out: {@code
   * IBV_WC_WR_FLUSH_ERR}.
   */
  FLUSHED(
      rdma_h.IBV_WC_WR_FLUSH_ERR(),
      "The queue pair went to the state ERROR before this request was carried out: the first"
          + " failed completion of the queue pair that is not FLUSHED gives the reason; if there"
          + " is none, the connection was ended or the queue pair was moved to ERROR"),
  /** A memory window could not be bound: {@code IBV_WC_MW_BIND_ERR}. */
  MEMORY_WINDOW_BIND_ERROR(
      rdma_h.IBV_WC_MW_BIND_ERR(),
      "The device refused to bind the memory window: check that the region is open, is of the"
          + " same protection domain and has the access MEMORY_WINDOW_BIND, and call"
          + " MemoryWindow.bindFailed for a window of type 1"),
  /** The peer answered with an unexpected opcode: {@code IBV_WC_BAD_RESP_ERR}. */
  BAD_RESPONSE(
      rdma_h.IBV_WC_BAD_RESP_ERR(),
      "The peer answered with an unexpected opcode: check that both queue pairs have the same"
          + " type and are connected to each other"),
  /**
   * A peer wrote with immediate data to memory that it may not write: {@code
   * IBV_WC_LOC_ACCESS_ERR}.
   */
  LOCAL_ACCESS_ERROR(
      rdma_h.IBV_WC_LOC_ACCESS_ERR(),
      "A peer wrote with immediate data to memory that it may not write: check the remote"
          + " address, the key and the length that the peer uses, and that the memory region and"
          + " the path grant REMOTE_WRITE"),
  /**
   * The peer found the request invalid, for example because a message was longer than its receive:
   * {@code IBV_WC_REM_INV_REQ_ERR}.
   */
  REMOTE_INVALID_REQUEST(
      rdma_h.IBV_WC_REM_INV_REQ_ERR(),
      "The peer found the request invalid: check that its receives are long enough, that its"
          + " queue pair accepts the operation, and that the address of an atomic is a multiple"
          + " of 8"),
  /**
   * The remote key or the remote address was wrong, or the peer does not grant the access: {@code
   * IBV_WC_REM_ACCESS_ERR}.
   */
  REMOTE_ACCESS_ERROR(
      rdma_h.IBV_WC_REM_ACCESS_ERR(),
      "The peer refused the access: check the remote address, the key and the length, that the"
          + " peer's memory region is still open, and that the region and the peer's path grant"
          + " the access"),
  /** The peer could not carry out the request: {@code IBV_WC_REM_OP_ERR}. */
  REMOTE_OPERATION_ERROR(
      rdma_h.IBV_WC_REM_OP_ERR(),
      "The peer's device could not carry out the request: the peer's completions and asynchronous"
          + " events say more"),
  /** The peer did not answer within the timeout and the retries: {@code IBV_WC_RETRY_EXC_ERR}. */
  RETRY_EXCEEDED(
      rdma_h.IBV_WC_RETRY_EXC_ERR(),
      "The peer did not answer: check that its process still runs and its port is active, and"
          + " that each side is connected to the current address (queue pair number, sequence"
          + " number, LID or GID) of the other"),
  /** The peer had no receive posted within the RNR retries: {@code IBV_WC_RNR_RETRY_EXC_ERR}. */
  RECEIVER_NOT_READY_RETRY_EXCEEDED(
      rdma_h.IBV_WC_RNR_RETRY_EXC_ERR(),
      "The peer had no receive posted in time: post receives before the peer sends, or raise"
          + " rnrRetries of the path (7 retries forever)"),
  /** A violation of the reliable datagram domain: {@code IBV_WC_LOC_RDD_VIOL_ERR}. */
  LOCAL_RDD_VIOLATION(
      rdma_h.IBV_WC_LOC_RDD_VIOL_ERR(),
      "This status belongs to reliable datagrams, which this library does not use: report it to"
          + " the device's vendor"),
  /** The peer found a reliable datagram request invalid: {@code IBV_WC_REM_INV_RD_REQ_ERR}. */
  REMOTE_INVALID_RD_REQUEST(
      rdma_h.IBV_WC_REM_INV_RD_REQ_ERR(),
      "This status belongs to reliable datagrams, which this library does not use: report it to"
          + " the device's vendor"),
  /** The peer aborted the operation: {@code IBV_WC_REM_ABORT_ERR}. */
  REMOTE_ABORTED(
      rdma_h.IBV_WC_REM_ABORT_ERR(),
      "The peer aborted the operation: the peer's completions and asynchronous events say more"),
  /**
   * An invalid number of an end-to-end context of reliable datagrams: {@code IBV_WC_INV_EECN_ERR}.
   */
  INVALID_EE_CONTEXT_NUMBER(
      rdma_h.IBV_WC_INV_EECN_ERR(),
      "This status belongs to reliable datagrams, which this library does not use: report it to"
          + " the device's vendor"),
  /**
   * An invalid state of an end-to-end context of reliable datagrams: {@code
   * IBV_WC_INV_EEC_STATE_ERR}.
   */
  INVALID_EE_CONTEXT_STATE(
      rdma_h.IBV_WC_INV_EEC_STATE_ERR(),
      "This status belongs to reliable datagrams, which this library does not use: report it to"
          + " the device's vendor"),
  /** A fatal error of the device: {@code IBV_WC_FATAL_ERR}. */
  FATAL_ERROR(
      rdma_h.IBV_WC_FATAL_ERR(),
      "The device failed: the kernel log (dmesg) says more; close the device and open it again"),
  /** The peer did not respond in time: {@code IBV_WC_RESP_TIMEOUT_ERR}. */
  RESPONSE_TIMEOUT(
      rdma_h.IBV_WC_RESP_TIMEOUT_ERR(),
      "The peer did not respond in time: check that its process still runs and its port is active"),
  /** Any other error: {@code IBV_WC_GENERAL_ERR}. */
  GENERAL_ERROR(
      rdma_h.IBV_WC_GENERAL_ERR(),
      "The device gives no reason: the vendor error is explained in its documentation, and the"
          + " kernel log (dmesg) may say more"),
  /** A tag matching operation failed: {@code IBV_WC_TM_ERR}. */
  TAG_MATCHING_ERROR(
      rdma_h.IBV_WC_TM_ERR(),
      "The device could not add or delete a tag: wait for the messages that it has already handed"
          + " over, then repeat the operation"),
  /**
   * The device did not finish a tagged rendezvous, which software has to finish: {@code
   * IBV_WC_TM_RNDV_INCOMPLETE}.
   */
  TAG_MATCHING_RENDEZVOUS_INCOMPLETE(
      rdma_h.IBV_WC_TM_RNDV_INCOMPLETE(),
      "The device did not finish the rendezvous: read the rest of the message from the peer with"
          + " an RDMA read");

  private final int value;
  private final String advice;

  CompletionStatus(int value, String advice) {
    this.value = value;
    this.advice = advice;
  }

  @Override
  public int value() {
    return value;
  }

  /**
   * Returns what usually causes this status, and what to do about it.
   *
   * @return a sentence; empty for {@link #SUCCESS}
   */
  public String advice() {
    return advice;
  }
}
