package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_recv_wr;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.RequestChain;

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
 * {@link #release}; if another thread uses it, IllegalStateException is thrown. After the queue is
 * closed, every method throws IllegalStateException. If the queue is closed during a post, the
 * close waits until the post returns.
 */
public final class ReceiveRequests {
  private static final int SIZE = (int) ibv_recv_wr.layout().byteSize();

  private final RequestChain chain;

  /**
   * The queue pair whose state a post checks; null for a shared receive queue, which has no state,
   * and for a work queue.
   */
  private final @Nullable QueuePair queuePair;

  private ReceiveRequests(RequestChain chain, @Nullable QueuePair queuePair) {
    this.chain = chain;
    this.queuePair = queuePair;
  }

  static ReceiveRequests of(QueuePair queuePair, int max, HotCalls posts) {
    RdmaDevice device = queuePair.domain().device();
    long op = DataPath.ibv_post_recv$op(device.context());
    return new ReceiveRequests(
        new RequestChain(
            target(device, posts, op, queuePair.pointer()),
            "ibv_post_recv",
            SIZE,
            max,
            queuePair.capabilities().receiveSges(),
            0,
            PostException::new,
            null),
        queuePair);
  }

  static ReceiveRequests of(SharedReceiveQueue queue, int max, HotCalls posts) {
    RdmaDevice device = queue.domain().device();
    long op = DataPath.ibv_post_srq_recv$op(device.context());
    return new ReceiveRequests(
        new RequestChain(
            target(device, posts, op, queue.pointer()),
            "ibv_post_srq_recv",
            SIZE,
            max,
            queue.sges(),
            0,
            PostException::new,
            null),
        null);
  }

  static ReceiveRequests of(WorkQueue queue, int max, HotCalls posts) {
    RdmaDevice device = queue.domain().device();
    long op = DataPath.ibv_post_wq_recv$op(queue.pointer());
    return new ReceiveRequests(
        new RequestChain(
            target(device, posts, op, queue.pointer()),
            "ibv_post_wq_recv",
            SIZE,
            max,
            queue.sges(),
            0,
            PostException::new,
            null),
        null);
  }

  private static HotCall.Target target(
      RdmaDevice device, HotCalls posts, long op, MemorySegment queue) {
    return new HotCall.Target(posts, "ReceiveRequests", device.callStyle().isCritical(), op, queue);
  }

  /**
   * Begins the next request. Until {@link #into} adds memory, it can receive only an empty message.
   *
   * @param id the number that identifies the request in its completion
   * @return this
   * @throws IllegalStateException if the batch is full, or another thread owns it
   */
  public ReceiveRequests add(long id) {
    chain.add(id);
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
   * @throws IllegalStateException if there is no request, the region is closed, or another thread
   *     owns this batch
   */
  public ReceiveRequests into(MemoryRegion region, long offset, long length) {
    chain.addPiece(region.addressOf(offset, length), length, region.key());
    return this;
  }

  /**
   * Adds a piece of memory for the message, as {@link #into(MemoryRegion, long, long)} does.
   *
   * @param slice the piece to write to
   * @return this
   * @throws IllegalArgumentException if the request already has the maximum number of pieces of the
   *     queue
   * @throws IllegalStateException if there is no request, the region is closed, or another thread
   *     owns this batch
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
   * @throws IllegalStateException if the queue pair is in RESET or closed, or another thread owns
   *     this batch; the requests are kept
   */
  public int post() {
    if (queuePair != null) {
      queuePair.checkReceives();
    }
    return chain.post();
  }

  /**
   * Returns the number of requests in this batch, which {@link #post} will post.
   *
   * @return the number of requests
   */
  public int size() {
    return chain.size();
  }

  /**
   * Drops the requests in this batch.
   *
   * @throws IllegalStateException if the queue pair is closed, or another thread owns this batch
   */
  public void clear() {
    chain.clear();
  }

  /**
   * Ends the ownership of this batch by the current thread. The next thread that calls {@link
   * #add}, {@link #post} or {@link #clear} becomes its owner.
   *
   * @throws IllegalStateException if the queue pair is closed, or another thread owns this batch
   */
  public void release() {
    chain.release();
  }
}
