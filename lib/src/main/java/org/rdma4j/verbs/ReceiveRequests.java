package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.Referent;
import org.rdma4j.datapath.RequestChain;
import org.rdma4j.datapath.RequestCopies;
import org.rdma4j.lifetime.Lifetime;

/**
 * A batch of receive requests, {@code struct ibv_recv_wr}: they are built in place in native memory
 * and posted in one call. A receive request is the memory for one message of a peer; messages fill
 * the posted requests in the order of the posts.
 *
 * <pre>{@code
 * ReceiveRequests requests = queuePair.receiveRequests(16);
 * requests.add(1).into(region, 0, 4096);
 * requests.add(2).into(region, 4096, 4096);
 * requests.post();
 * }</pre>
 *
 * <p>Post receives before the peer sends: on a reliable connection, a message that arrives while no
 * receive is posted is sent again after a delay, or fails.
 *
 * <p>No method allocates. A batch belongs to the first thread that uses it, until that thread calls
 * {@link #release}. Every method but {@link #size} throws IllegalStateException if another thread
 * owns the batch or the queue is closed, which their descriptions do not repeat. If the queue is
 * closed during a post, the close waits until the post returns.
 *
 * @see QueuePair#receiveRequests(int)
 * @see SharedReceiveQueue#receiveRequests
 * @see PreparedReceives
 * @see SendRequests
 * @see Completions
 */
// Users cannot name the superclass, nor call it: its members are protected, and this is final.
public final class ReceiveRequests extends RequestChain {
  private final Queue queue;
  private final @Nullable ChainPosting receiving;

  /**
   * A queue of receives.
   *
   * @param name the function that posts, for messages
   * @param function the pointer to it
   * @param pairWithState the queue pair whose state a post checks; null for a shared receive queue,
   *     which has no state, and for a work queue
   * @param receiving what posts, if it is not the function
   * @param maxPieces the maximum number of pieces of a request
   */
  private record Queue(
      ProtectionDomain domain,
      Lifetime lifetime,
      HotCalls posts,
      MemorySegment pointer,
      String name,
      long function,
      @Nullable QueuePair pairWithState,
      @Nullable ChainPosting receiving,
      int maxPieces) {
    HotCall.Target target(String caller) {
      return new HotCall.Target(
          posts,
          caller,
          domain.device().callsCritically(),
          receiving == null ? function : 0,
          pointer);
    }
  }

  private ReceiveRequests(Queue queue, int max) {
    super(
        queue.target("ReceiveRequests"), new Size(PreparedReceives.SIZE, max, queue.maxPieces, 0));
    this.queue = queue;
    this.receiving = queue.receiving;
  }

  static ReceiveRequests of(QueuePair queuePair, int max, HotCalls posts) {
    return new ReceiveRequests(
        new Queue(
            queuePair.domain(),
            queuePair.lifetime(),
            posts,
            queuePair.pointer(),
            "ibv_post_recv",
            DataPath.ibv_post_recv$op(queuePair.domain().device().context()),
            queuePair,
            queuePair.receiving(),
            queuePair.capabilities().receiveSges()),
        max);
  }

  static ReceiveRequests of(SharedReceiveQueue queue, int max, HotCalls posts) {
    return new ReceiveRequests(
        new Queue(
            queue.domain(),
            queue.lifetime(),
            posts,
            queue.pointer(),
            "ibv_post_srq_recv",
            DataPath.ibv_post_srq_recv$op(queue.domain().device().context()),
            null,
            queue.inPlace(),
            queue.sges()),
        max);
  }

  static ReceiveRequests of(WorkQueue queue, int max, HotCalls posts) {
    return new ReceiveRequests(
        new Queue(
            queue.domain(),
            queue.lifetime(),
            posts,
            queue.pointer(),
            "ibv_post_wq_recv",
            DataPath.ibv_post_wq_recv$op(queue.pointer()),
            null,
            null,
            queue.sges()),
        max);
  }

  @Override
  protected RuntimeException refusal(int errno, int index) {
    return new PostException(queue.name, errno, index);
  }

  @Override
  protected boolean isFree() {
    QueuePair pair = queue.pairWithState;
    return super.isFree() && (pair == null || pair.takesReceives());
  }

  @Override
  protected void inspect() {
    QueuePair pair = queue.pairWithState;
    if (pair != null) {
      pair.checkReceives();
    }
    super.inspect();
  }

  @Override
  protected int postExtended(long requests, long badRequest) {
    return receiving == null
        ? super.postExtended(requests, badRequest)
        : receiving.post(requests, badRequest);
  }

  /**
   * Begins the next request. Until {@link #into} adds memory, it can receive only an empty message.
   *
   * @param id the number that identifies the request in its completion
   * @return this
   * @throws IllegalStateException if the batch is full
   */
  public ReceiveRequests add(long id) {
    begin(id);
    return this;
  }

  /**
   * Adds a piece of memory (scatter/gather element) for the message. The message fills the pieces
   * in the order in which they are added.
   *
   * @param region the memory region that contains the piece. It must belong to the queue's
   *     protection domain and have LOCAL_WRITE, otherwise the request completes with {@link
   *     CompletionStatus#LOCAL_PROTECTION_ERROR}, or on soft-RoCE with {@link
   *     CompletionStatus#LOCAL_QUEUE_PAIR_OPERATION_ERROR}
   * @param offset the offset of the piece in the region, in bytes
   * @param length the length of the piece in bytes, 0 to 4 GiB - 1
   * @return this
   * @throws IndexOutOfBoundsException if the piece does not lie within the region
   * @throws IllegalArgumentException if the request already has the maximum number of pieces of the
   *     queue
   * @throws IllegalStateException if there is no request, or the region is closed
   */
  public ReceiveRequests into(MemoryRegion region, long offset, long length) {
    addPiece(region.addressOf(offset, length), length, region.key());
    return this;
  }

  /**
   * Adds a piece of memory for the message, as {@link #into(MemoryRegion, long, long)} does.
   *
   * @param slice the piece to write to
   * @return this
   * @throws IllegalArgumentException if the request already has the maximum number of pieces of the
   *     queue
   * @throws IllegalStateException if there is no request, or the region is closed
   */
  public ReceiveRequests into(MemorySlice slice) {
    return into(slice.region(), slice.offset(), slice.length());
  }

  /**
   * Posts the requests in one call, {@code ibv_post_recv}, {@code ibv_post_srq_recv} or {@code
   * ibv_post_wq_recv}, and empties the batch. Returns without a call if there are none.
   *
   * @return the number of requests that were posted
   * @throws PostException if the provider refuses a request: ENOMEM if the receive queue is full
   * @throws IllegalStateException if the queue pair is in RESET or closed; the requests are kept
   */
  public int post() {
    return postAll();
  }

  /**
   * Takes the requests out of this batch, so that they can be posted any number of times.
   *
   * @return the requests, which were not posted yet
   * @throws IllegalStateException if there are no requests, or the queue or a memory region is
   *     closed
   */
  public PreparedReceives prepare() {
    own();
    if (count() == 0) {
      throw new IllegalStateException("the batch has no request to prepare; call add(id) first");
    }
    Set<Referent> used = new HashSet<>();
    RequestCopies copies = copyAll();
    for (int i = 0; i < copies.size(); i++) {
      PreparedRequests.describePieces(
          copies.at(i),
          PreparedReceives.SIZE,
          (key, address, length) -> {
            MemoryRegion region = queue.domain.regions().find(key, address, length, false);
            used.add(region.referent());
            return region.place(false);
          });
    }
    PreparedReceives prepared =
        queue.lifetime.whileOpen(
            () ->
                new PreparedReceives(
                    queue.target("PreparedReceives"),
                    queue.name,
                    queue.pairWithState,
                    queue.receiving,
                    copies,
                    used));
    drop();
    return prepared;
  }

  /**
   * Returns the number of requests in this batch, which {@link #post} will post.
   *
   * @return the number of requests
   */
  public int size() {
    return count();
  }

  /** Drops the requests in this batch. */
  public void clear() {
    drop();
  }

  /**
   * Ends the ownership of this batch by the current thread. The next thread that calls {@link
   * #add}, {@link #post} or {@link #clear} becomes its owner.
   */
  public void release() {
    releaseOwnership();
  }
}
