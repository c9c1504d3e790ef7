package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** How a memory window is bound: {@code enum ibv_mw_type}. */
public enum MemoryWindowType implements NativeConstant {
  /**
   * By {@code ibv_bind_mw}, as often as one likes; every queue pair of the domain may use it:
   * {@code IBV_MW_TYPE_1}.
   */
  TYPE_1(rdma_h.IBV_MW_TYPE_1()),
  /**
   * By a work request, and unbound by invalidating its key, which a peer may do too; it is of the
   * queue pair that bound it: {@code IBV_MW_TYPE_2}.
   */
  TYPE_2(rdma_h.IBV_MW_TYPE_2());

  private final int value;

  MemoryWindowType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
