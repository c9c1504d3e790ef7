package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The kind of operation that a work completion reports: {@code enum ibv_wc_opcode}.
 *
 * @see Completions#opcode
 */
public enum CompletionOpcode implements NativeConstant {
  /** A send: {@code IBV_WC_SEND}. */
  SEND(rdma_h.IBV_WC_SEND()),
  /** An RDMA write: {@code IBV_WC_RDMA_WRITE}. */
  RDMA_WRITE(rdma_h.IBV_WC_RDMA_WRITE()),
  /** An RDMA read: {@code IBV_WC_RDMA_READ}. */
  RDMA_READ(rdma_h.IBV_WC_RDMA_READ()),
  /** A compare-and-swap: {@code IBV_WC_COMP_SWAP}. */
  COMPARE_AND_SWAP(rdma_h.IBV_WC_COMP_SWAP()),
  /** A fetch-and-add: {@code IBV_WC_FETCH_ADD}. */
  FETCH_AND_ADD(rdma_h.IBV_WC_FETCH_ADD()),
  /** The binding of a memory window: {@code IBV_WC_BIND_MW}. */
  BIND_MEMORY_WINDOW(rdma_h.IBV_WC_BIND_MW()),
  /** A local invalidation: {@code IBV_WC_LOCAL_INV}. */
  LOCAL_INVALIDATE(rdma_h.IBV_WC_LOCAL_INV()),
  /** A segmented send: {@code IBV_WC_TSO}. */
  TSO(rdma_h.IBV_WC_TSO()),
  /** An atomic write: {@code IBV_WC_ATOMIC_WRITE}. */
  ATOMIC_WRITE(rdma_h.IBV_WC_ATOMIC_WRITE()),
  /** A flush of memory of the peer: {@code IBV_WC_FLUSH}. */
  FLUSH(rdma_h.IBV_WC_FLUSH()),
  /** A receive: {@code IBV_WC_RECV}. */
  RECEIVE(rdma_h.IBV_WC_RECV()),
  /** A receive used up by an RDMA write with immediate data: {@code IBV_WC_RECV_RDMA_WITH_IMM}. */
  RECEIVE_RDMA_WITH_IMMEDIATE(rdma_h.IBV_WC_RECV_RDMA_WITH_IMM()),
  /** The addition of a tagged receive: {@code IBV_WC_TM_ADD}. */
  TAG_MATCHING_ADD(rdma_h.IBV_WC_TM_ADD()),
  /** The removal of a tagged receive: {@code IBV_WC_TM_DEL}. */
  TAG_MATCHING_DELETE(rdma_h.IBV_WC_TM_DEL()),
  /** The synchronization of the list of tags: {@code IBV_WC_TM_SYNC}. */
  TAG_MATCHING_SYNC(rdma_h.IBV_WC_TM_SYNC()),
  /** A tagged receive: {@code IBV_WC_TM_RECV}. */
  TAG_MATCHING_RECEIVE(rdma_h.IBV_WC_TM_RECV()),
  /** A receive of a message without a tag: {@code IBV_WC_TM_NO_TAG}. */
  TAG_MATCHING_NO_TAG(rdma_h.IBV_WC_TM_NO_TAG()),
  /** An operation that only the provider defines: {@code IBV_WC_DRIVER1}. */
  DRIVER1(rdma_h.IBV_WC_DRIVER1()),
  /** An operation that only the provider defines: {@code IBV_WC_DRIVER2}. */
  DRIVER2(rdma_h.IBV_WC_DRIVER2()),
  /** An operation that only the provider defines: {@code IBV_WC_DRIVER3}. */
  DRIVER3(rdma_h.IBV_WC_DRIVER3());

  private final int value;

  CompletionOpcode(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
