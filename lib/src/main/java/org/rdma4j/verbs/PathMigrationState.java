package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The state of path migration, which says which of its two paths a queue pair uses: {@code enum
 * ibv_mig_state}.
 *
 * @see QueuePairChange#pathMigrationState
 */
public enum PathMigrationState implements NativeConstant {
  /** The queue pair has migrated to the former alternate path: {@code IBV_MIG_MIGRATED}. */
  MIGRATED(rdma_h.IBV_MIG_MIGRATED()),
  /** The device is to arm the alternate path again: {@code IBV_MIG_REARM}. */
  REARM(rdma_h.IBV_MIG_REARM()),
  /** The queue pair can migrate to the alternate path: {@code IBV_MIG_ARMED}. */
  ARMED(rdma_h.IBV_MIG_ARMED());

  private final int value;

  PathMigrationState(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
