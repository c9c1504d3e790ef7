package org.rdma4j.datapath;

/**
 * Posts a chain of requests otherwise than by one function of the provider: by {@code ibv_wr_*}, or
 * into the memory of the queue itself. It is called inside a {@link HotCall} only, so that a close
 * of the queue waits for it.
 *
 * <p>This is a class and not an interface, because the compiler then needs no check of the type of
 * the object as long as only one subclass is loaded.
 */
public abstract class ChainPosting {
  /**
   * Posts a chain of {@code struct ibv_send_wr} or {@code struct ibv_recv_wr}, in each of which the
   * list of pieces follows the struct. Returns 0 or an errno value; in the latter case the address
   * of the first request that was not posted is stored.
   */
  public abstract int post(long requests, long badRequest);
}
