package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * What a memory region may be used for: {@code enum ibv_access_flags}. The local CPU and sends may
 * always read it.
 */
public enum AccessFlag implements NativeConstant {
  /**
   * Receives and the results of reads and atomics may be written to it: {@code
   * IBV_ACCESS_LOCAL_WRITE}.
   */
  LOCAL_WRITE(rdma_h.IBV_ACCESS_LOCAL_WRITE()),
  /** A peer may write it; wants LOCAL_WRITE: {@code IBV_ACCESS_REMOTE_WRITE}. */
  REMOTE_WRITE(rdma_h.IBV_ACCESS_REMOTE_WRITE()),
  /** A peer may read it: {@code IBV_ACCESS_REMOTE_READ}. */
  REMOTE_READ(rdma_h.IBV_ACCESS_REMOTE_READ()),
  /** A peer may use atomics on it; wants LOCAL_WRITE: {@code IBV_ACCESS_REMOTE_ATOMIC}. */
  REMOTE_ATOMIC(rdma_h.IBV_ACCESS_REMOTE_ATOMIC()),
  /** Memory windows may be bound to it: {@code IBV_ACCESS_MW_BIND}. */
  MEMORY_WINDOW_BIND(rdma_h.IBV_ACCESS_MW_BIND()),
  /**
   * Requests name its bytes by their offset, the first one by 0, instead of by their address:
   * {@code IBV_ACCESS_ZERO_BASED}.
   */
  ZERO_BASED(rdma_h.IBV_ACCESS_ZERO_BASED()),
  /**
   * Its pages are not pinned, the device faults them in when it needs them: {@code
   * IBV_ACCESS_ON_DEMAND}. Few devices can; the others refuse the registration.
   */
  ON_DEMAND(rdma_h.IBV_ACCESS_ON_DEMAND()),
  /**
   * It consists of huge pages and is registered {@link #ON_DEMAND}, so that the device may fault in
   * huge pages: {@code IBV_ACCESS_HUGETLB}.
   */
  HUGE_PAGES(rdma_h.IBV_ACCESS_HUGETLB()),
  /**
   * The device may write it out of order; ignored where it cannot: {@code
   * IBV_ACCESS_RELAXED_ORDERING}.
   */
  RELAXED_ORDERING(rdma_h.IBV_ACCESS_RELAXED_ORDERING());

  private final int value;

  AccessFlag(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
