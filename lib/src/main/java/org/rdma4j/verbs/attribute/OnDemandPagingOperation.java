package org.rdma4j.verbs.attribute;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * An operation that may access memory with on-demand paging: {@code enum
 * ibv_odp_transport_cap_bits}.
 *
 * @see OnDemandPagingCapabilities
 */
public enum OnDemandPagingOperation implements NativeConstant {
  /** Sends: {@code IBV_ODP_SUPPORT_SEND}. */
  SEND(rdma_h.IBV_ODP_SUPPORT_SEND()),
  /** Receives: {@code IBV_ODP_SUPPORT_RECV}. */
  RECEIVE(rdma_h.IBV_ODP_SUPPORT_RECV()),
  /** RDMA writes: {@code IBV_ODP_SUPPORT_WRITE}. */
  WRITE(rdma_h.IBV_ODP_SUPPORT_WRITE()),
  /** RDMA reads: {@code IBV_ODP_SUPPORT_READ}. */
  READ(rdma_h.IBV_ODP_SUPPORT_READ()),
  /** Atomic operations: {@code IBV_ODP_SUPPORT_ATOMIC}. */
  ATOMIC(rdma_h.IBV_ODP_SUPPORT_ATOMIC()),
  /** Receives of a shared receive queue: {@code IBV_ODP_SUPPORT_SRQ_RECV}. */
  SHARED_RECEIVE(rdma_h.IBV_ODP_SUPPORT_SRQ_RECV()),
  /** Flushes: {@code IBV_ODP_SUPPORT_FLUSH}. */
  FLUSH(rdma_h.IBV_ODP_SUPPORT_FLUSH()),
  /** Atomic writes: {@code IBV_ODP_SUPPORT_ATOMIC_WRITE}. */
  ATOMIC_WRITE(rdma_h.IBV_ODP_SUPPORT_ATOMIC_WRITE());

  private final int value;

  OnDemandPagingOperation(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
