package org.rdma4j.verbs;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_recv_wr;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.datapath.Referent;
import org.rdma4j.datapath.RequestCopies;
import org.rdma4j.datapath.RequestLayout;

/**
 * Receive requests that were built and checked once, and can be posted any number of times. {@link
 * ReceiveRequests#prepare} creates them. A program posts all of them once, and then gives back as
 * many as it has polled:
 *
 * <pre>{@code
 * ReceiveRequests requests = queuePair.receiveRequests(16);
 * for (int i = 0; i < 16; i++) {
 *   requests.add(i).into(region, 4096 * i, 4096);
 * }
 * PreparedReceives receives = requests.prepare();
 * receives.post();
 * while (running) {
 *   int polled = completions.poll();
 *   // ... handle the messages
 *   receives.repost(polled);
 * }
 * }</pre>
 *
 * @see ReceiveRequests#prepare
 * @see PreparedSends
 */
public final class PreparedReceives extends PreparedRequests<PreparedReceives> {
  static final int SIZE = (int) ibv_recv_wr.layout().byteSize();

  /** The function that posts, for messages. */
  private final String function;

  /** The queue pair whose state a post checks; null for a queue that has no state. */
  private final @Nullable QueuePair queuePair;

  /** What posts, if it is not the function. */
  private final @Nullable ChainPosting receiving;

  /** The request that {@link #repost} posts next. */
  private int oldest;

  PreparedReceives(
      Target target,
      String function,
      @Nullable QueuePair queuePair,
      @Nullable ChainPosting receiving,
      RequestCopies copies,
      Set<Referent> referents) {
    super(target, copies, referents);
    this.function = function;
    this.queuePair = queuePair;
    this.receiving = receiving;
  }

  /**
   * Posts the oldest requests again in one call, with the same function as {@link #post()}. The
   * first call of this method begins with request 0, and each further call where the last one
   * ended; after the last request comes request 0 again. A queue pair uses its receives in the
   * order in which they were posted, so these are the requests whose completions were polled first.
   *
   * <p>On a shared receive queue with several queue pairs, completions can come in another order;
   * post the requests that completed there with {@link #post(int, int)}.
   *
   * @param count the number of requests, from 0 to {@link #size}
   * @throws IndexOutOfBoundsException if there are not so many requests
   * @throws PostException if the provider refuses a request; the requests before it are posted
   * @throws IllegalStateException as for {@link #post()}
   */
  public void repost(int count) {
    int size = size();
    if (count < 0 || count > size) {
      throw new IndexOutOfBoundsException("count is " + count + ", must be from 0 to " + size);
    }
    if (count == 0) {
      own();
      return;
    }
    int end = oldest + count;
    int next = end < size ? end : end - size;
    try {
      if (end <= size) {
        postUntil(at(oldest) + REQUEST, at(end - 1) + REQUEST);
      } else {
        postAround(at(oldest) + REQUEST, at(next - 1) + REQUEST);
      }
    } catch (PostException refused) {
      if (refused.index() != PostException.UNKNOWN) {
        oldest = (oldest + refused.index()) % size;
      }
      throw refused;
    }
    oldest = next;
  }

  /** Posts the requests from one to the last, and from the first to another. */
  private void postAround(long from, long until) {
    long end = at(size() - 1) + REQUEST + RequestLayout.NEXT;
    RawMemory.putLong(end, at(0) + REQUEST);
    try {
      postUntil(from, until);
    } finally {
      RawMemory.putLong(end, 0);
    }
  }

  @Override
  int requestSize() {
    return SIZE;
  }

  @Override
  PreparedReceives self() {
    return this;
  }

  @Override
  PostException refusal(int errno, int index) {
    return new PostException(function, errno, index);
  }

  @Override
  protected int postExtended(long requests, long badRequest) {
    return receiving == null
        ? super.postExtended(requests, badRequest)
        : receiving.post(requests, badRequest);
  }

  @Override
  protected boolean isFree() {
    return (queuePair == null || queuePair.takesReceives()) && super.isFree();
  }

  @Override
  protected void inspect() {
    if (queuePair != null) {
      queuePair.checkReceives();
    }
    super.inspect();
  }
}
