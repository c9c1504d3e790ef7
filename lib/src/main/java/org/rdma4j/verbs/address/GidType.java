package org.rdma4j.verbs.address;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * The protocol that a GID is for: {@code enum ibv_gid_type}.
 *
 * @see GidEntry
 */
public enum GidType implements NativeConstant {
  /** InfiniBand: {@code IBV_GID_TYPE_IB}. */
  INFINIBAND(rdma_h.IBV_GID_TYPE_IB()),
  /** RoCE version 1, within an Ethernet network: {@code IBV_GID_TYPE_ROCE_V1}. */
  ROCE_V1(rdma_h.IBV_GID_TYPE_ROCE_V1()),
  /** RoCE version 2, over UDP: {@code IBV_GID_TYPE_ROCE_V2}. */
  ROCE_V2(rdma_h.IBV_GID_TYPE_ROCE_V2());

  private final int value;

  GidType(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
