package org.rdma4j.bench;

/** By which calls is posted and polled. */
public enum Queues {
  /** {@code ibv_post_send} and {@code ibv_poll_cq}. */
  PLAIN,
  /** {@code ibv_wr_*} and {@code ibv_poll_cq}. */
  EXTENDED_POST,
  /** {@code ibv_post_send} and {@code ibv_start_poll} with its kin. */
  EXTENDED_POLL,
  /** {@code ibv_wr_*} and {@code ibv_start_poll} with its kin. */
  EXTENDED;

  boolean extendsPosts() {
    return this == EXTENDED_POST || this == EXTENDED;
  }

  boolean extendsPolls() {
    return this == EXTENDED_POLL || this == EXTENDED;
  }
}
