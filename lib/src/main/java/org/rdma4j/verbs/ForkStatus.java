package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * Whether the process may call fork() while memory is registered: {@code enum ibv_fork_status}.
 *
 * @see ForkSupport
 */
public enum ForkStatus implements NativeConstant {
  /**
   * A child shares the registered pages. If the parent then writes to one, it gets a copy, and the
   * device keeps using the old page: {@code IBV_FORK_DISABLED}.
   */
  DISABLED(rdma_h.IBV_FORK_DISABLED()),
  /** Children do not get the registered pages: {@code IBV_FORK_ENABLED}. */
  ENABLED(rdma_h.IBV_FORK_ENABLED()),
  /**
   * This kernel copies registered pages for children, so no initialization is needed: {@code
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
