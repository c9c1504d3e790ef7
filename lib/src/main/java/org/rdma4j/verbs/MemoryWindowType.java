package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The type of a memory window, which determines how it is bound: {@code enum ibv_mw_type}.
 *
 * @see MemoryWindow
 */
public enum MemoryWindowType implements NativeConstant {
  /**
   * A window that {@link MemoryWindow#bind} binds, {@code ibv_bind_mw}, any number of times. Peers
   * reach it through every queue pair of the domain: {@code IBV_MW_TYPE_1}.
   */
  TYPE_1(rdma_h.IBV_MW_TYPE_1()),
  /**
   * A window that a work request binds, {@link SendRequests#bind}, and that is unbound by
   * invalidating its key, which a peer may do too. Peers reach it only through the queue pair that
   * bound it: {@code IBV_MW_TYPE_2}.
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
