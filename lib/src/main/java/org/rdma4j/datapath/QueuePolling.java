package org.rdma4j.datapath;

/**
 * Polls a completion queue otherwise than by one function of the provider: by {@code
 * ibv_start_poll}, or from the memory of the queue itself. It is called inside a {@link HotCall}
 * only, so that a close of the queue waits for it.
 */
public abstract class QueuePolling {
  /**
   * Polls, and returns the number of completions, or a negative value.
   *
   * @param entries where to write them, as {@code struct ibv_wc}
   * @param rows where to write what {@code struct ibv_wc} has no fields for
   */
  public abstract int poll(int max, long entries, long rows);
}
