package org.rdma4j.bench.standin;

/** The C functions that post to a queue pair and poll its completion queue. */
public enum Queues {
  /** {@code ibv_post_send} and {@code ibv_poll_cq}. */
  PLAIN,
  /** {@code ibv_wr_*} and {@code ibv_poll_cq}. */
  EXTENDED_POST,
  /** {@code ibv_post_send} and {@code ibv_start_poll} to {@code ibv_end_poll}. */
  EXTENDED_POLL,
  /** {@code ibv_wr_*} and {@code ibv_start_poll} to {@code ibv_end_poll}. */
  EXTENDED;

  /**
   * Tells whether requests are posted by {@code ibv_wr_*}.
   *
   * @return whether the queue pair is extended
   */
  public boolean extendsPosts() {
    return this == EXTENDED_POST || this == EXTENDED;
  }

  /**
   * Tells whether completions are polled by {@code ibv_start_poll}.
   *
   * @return whether the completion queue is extended
   */
  public boolean extendsPolls() {
    return this == EXTENDED_POLL || this == EXTENDED;
  }
}
