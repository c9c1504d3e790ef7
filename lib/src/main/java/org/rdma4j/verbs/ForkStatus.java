package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** Whether a child of fork() may share registered pages: {@code enum ibv_fork_status}. */
public enum ForkStatus implements NativeConstant {
  /**
   * A child shares registered pages, so that a write after the fork moves them away from the
   * device: {@code IBV_FORK_DISABLED}.
   */
  DISABLED(rdma_h.IBV_FORK_DISABLED()),
  /** Registered pages are kept out of children: {@code IBV_FORK_ENABLED}. */
  ENABLED(rdma_h.IBV_FORK_ENABLED()),
  /**
   * This kernel copies registered pages for children, so that nothing is needed: {@code
   * IBV_FORK_UNNEEDED}.
   */
  UNNEEDED(rdma_h.IBV_FORK_UNNEEDED());

  private final int value;

  ForkStatus(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
