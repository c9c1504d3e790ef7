package org.rdma4j.verbs;

import org.rdma4j.RdmaException;
import org.rdma4j.datapath.RequestChain;

/**
 * A chain of requests was not posted as a whole: {@code bad_wr} of {@code ibv_post_send} or {@code
 * ibv_post_recv}. Requests before {@link #index} are posted; that one and those after it are kept,
 * so that the next {@code post()} tries them again, and {@code clear()} drops them.
 */
public final class PostException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** The value of {@link #index()} where the provider did not tell. */
  public static final int UNKNOWN = RequestChain.UNKNOWN;

  /** The first request that was refused. */
  private final int index;

  PostException(String call, int errno, int index) {
    super(call + (index == UNKNOWN ? "" : " of request " + index + " of the chain"), errno);
    this.index = index;
  }

  /**
   * The first request that was refused, counted from the first one of the call, which is 0.
   *
   * @return the index, or {@link #UNKNOWN} where the provider did not tell: then it is open which
   *     requests were posted, and none is kept
   */
  public int index() {
    return index;
  }
}
