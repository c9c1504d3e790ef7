package org.rdma4j.verbs;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * What a flush guarantees about the writes before it: {@code enum ibv_placement_type}.
 *
 * @see SendRequests#flush
 */
public enum FlushType implements NativeConstant {
  /** The peer's processors and devices see the data: {@code IBV_FLUSH_GLOBAL}. */
  GLOBAL(rdma_h.IBV_FLUSH_GLOBAL()),
  /** The data survives a loss of power at the peer: {@code IBV_FLUSH_PERSISTENT}. */
  PERSISTENT(rdma_h.IBV_FLUSH_PERSISTENT()),
  /** Both: {@code IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT}. */
  GLOBAL_AND_PERSISTENT(rdma_h.IBV_FLUSH_GLOBAL() | rdma_h.IBV_FLUSH_PERSISTENT());

  private final int value;

  FlushType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
