package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/** Which of its two paths a queue pair uses: {@code enum ibv_mig_state}. */
public enum PathMigrationState implements NativeConstant {
  /** It has migrated to what was the alternate path: {@code IBV_MIG_MIGRATED}. */
  MIGRATED(rdma_h.IBV_MIG_MIGRATED()),
  /** The alternate path is to be armed again: {@code IBV_MIG_REARM}. */
  REARM(rdma_h.IBV_MIG_REARM()),
  /** It may migrate to the alternate path: {@code IBV_MIG_ARMED}. */
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
