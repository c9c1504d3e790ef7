package org.rdma4j.cm;

import org.rdma4j.NativeConstant;
import org.rdma4j.bindings.generated.rdma_h;

/**
 * How to join a multicast group: {@code enum rdma_cm_mc_join_flags}.
 *
 * @see MulticastMembership
 */
public enum JoinFlag implements NativeConstant {
  /** To send to the group and to receive from it: {@code RDMA_MC_JOIN_FLAG_FULLMEMBER}. */
  FULL_MEMBER(rdma_h.RDMA_MC_JOIN_FLAG_FULLMEMBER()),
  /** Only to send to the group: {@code RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER}. */
  SEND_ONLY_FULL_MEMBER(rdma_h.RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER());

  private final int value;

  JoinFlag(int value) {
    this.value = value;
  }

  @Override
  public int value() {
    return value;
  }
}
