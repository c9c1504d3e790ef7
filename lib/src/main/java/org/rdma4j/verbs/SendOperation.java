package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * An operation that an extended queue pair can post: {@code enum ibv_qp_create_send_ops_flags}.
 *
 * @see QueuePairConfig#extended
 * @see QueuePair#isDataInOrder
 */
public enum SendOperation implements NativeConstant {
  /** An RDMA write: {@code IBV_QP_EX_WITH_RDMA_WRITE}. */
  WRITE(rdma_h.IBV_QP_EX_WITH_RDMA_WRITE()),
  /** An RDMA write with immediate data: {@code IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM}. */
  WRITE_WITH_IMMEDIATE(rdma_h.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM()),
  /** A send: {@code IBV_QP_EX_WITH_SEND}. */
  SEND(rdma_h.IBV_QP_EX_WITH_SEND()),
  /** A send with immediate data: {@code IBV_QP_EX_WITH_SEND_WITH_IMM}. */
  SEND_WITH_IMMEDIATE(rdma_h.IBV_QP_EX_WITH_SEND_WITH_IMM()),
  /** An RDMA read: {@code IBV_QP_EX_WITH_RDMA_READ}. */
  READ(rdma_h.IBV_QP_EX_WITH_RDMA_READ()),
  /** An atomic compare-and-swap: {@code IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP}. */
  COMPARE_AND_SWAP(rdma_h.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP()),
  /** An atomic fetch-and-add: {@code IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD}. */
  FETCH_AND_ADD(rdma_h.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD()),
  /** The invalidation of a key of this side: {@code IBV_QP_EX_WITH_LOCAL_INV}. */
  INVALIDATE(rdma_h.IBV_QP_EX_WITH_LOCAL_INV()),
  /** The bind of a memory window: {@code IBV_QP_EX_WITH_BIND_MW}. */
  BIND_MEMORY_WINDOW(rdma_h.IBV_QP_EX_WITH_BIND_MW()),
  /** A send that invalidates a key of the receiver: {@code IBV_QP_EX_WITH_SEND_WITH_INV}. */
  SEND_WITH_INVALIDATE(rdma_h.IBV_QP_EX_WITH_SEND_WITH_INV()),
  /** A segmented send, which the device cuts into packets: {@code IBV_QP_EX_WITH_TSO}. */
  SEGMENTED_SEND(rdma_h.IBV_QP_EX_WITH_TSO()),
  /** An atomic write of 8 bytes: {@code IBV_QP_EX_WITH_ATOMIC_WRITE}. */
  ATOMIC_WRITE(rdma_h.IBV_QP_EX_WITH_ATOMIC_WRITE()),
  /** A flush of memory of the peer: {@code IBV_QP_EX_WITH_FLUSH}. */
  FLUSH(rdma_h.IBV_QP_EX_WITH_FLUSH());

  private final int value;

  SendOperation(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
