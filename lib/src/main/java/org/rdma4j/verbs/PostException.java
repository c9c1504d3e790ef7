package org.rdma4j.verbs;

import org.rdma4j.RdmaException;
import org.rdma4j.datapath.RequestChain;

/**
 * Thrown if the provider refuses a request of a batch: {@code bad_wr} of {@code ibv_post_send} or
 * {@code ibv_post_recv}. The requests before {@link #index} are posted. The refused one and those
 * after it stay in the batch: the next {@code post()} tries them again, and {@code clear()} drops
 * them.
 *
 * @see SendRequests#post
 * @see ReceiveRequests#post
 */
public final class PostException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** The value of {@link #index()} if the provider did not say which request it refused. */
  public static final int UNKNOWN = RequestChain.UNKNOWN;

  /** The index of the refused request. */
  private final int index;

  PostException(String call, int errno, int index) {
    super(call + (index == UNKNOWN ? "" : " of request " + index + " of the batch"), errno);
    this.index = index;
  }

  /**
   * Returns the index of the request that was refused. The first request of the post has index 0.
   *
   * @return the index, or {@link #UNKNOWN} if the provider did not say which one: then it is
   *     unknown which requests were posted, and the batch keeps none of them
   */
  public int index() {
    return index;
  }
}
