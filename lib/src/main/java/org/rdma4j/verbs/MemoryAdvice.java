package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * Advice to a device about memory that is registered on demand: {@code enum ibv_advise_mr_advice}.
 *
 * @see ProtectionDomain#advise
 */
public enum MemoryAdvice implements NativeConstant {
  /** Fault the pages in for reading: {@code IBV_ADVISE_MR_ADVICE_PREFETCH}. */
  PREFETCH(rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH()),
  /** Fault the pages in for writing: {@code IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE}. */
  PREFETCH_WRITE(rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE()),
  /**
   * Use the pages that are already in memory, and fault none in: {@code
   * IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT}.
   */
  PREFETCH_NO_FAULT(rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT());

  private final int value;

  MemoryAdvice(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
