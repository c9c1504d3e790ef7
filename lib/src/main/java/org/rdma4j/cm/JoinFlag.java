package org.rdma4j.cm;

import org.rdma4j.bindings.generated.rdma_h;

/** As what a multicast group is joined: {@code enum rdma_cm_mc_join_flags}. */
public enum JoinFlag {
  /** To send to the group and to receive: {@code RDMA_MC_JOIN_FLAG_FULLMEMBER}. */
  FULL_MEMBER(rdma_h.RDMA_MC_JOIN_FLAG_FULLMEMBER()),
  /** To send to the group alone: {@code RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER}. */
  SEND_ONLY_FULL_MEMBER(rdma_h.RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER());

  private final int value;

  JoinFlag(int value) {
    this.value = value;
  }

  /**
   * The value in rdma_cma.h.
   *
   * @return the value of the C constant that the documentation of this one names
   */
  public int value() {
    return value;
  }
}
