package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_recv_wr;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.RequestChain;

/**
 * Receive requests, {@code struct ibv_recv_wr}, built in place in native memory and posted
 * together:
 *
 * <pre>{@code
 * requests.add(1).into(region, 0, 4096);
 * requests.add(2).into(region, 4096, 4096);
 * requests.post();
 * }</pre>
 *
 * <p>Nothing here allocates. It belongs to the first thread that uses it, until that calls {@link
 * #release}: use by another throws IllegalStateException. After the queue pair is closed every
 * method throws IllegalStateException; a close in the middle of a post waits until that returns.
 */
public final class ReceiveRequests {
  private static final int SIZE = (int) ibv_recv_wr.layout().byteSize();

  private final RequestChain chain;

  /** Null for those of a shared receive queue, which has no state, and of a work queue. */
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
   * Begins the next request: a receive without memory, for messages of no bytes.
   *
   * @param id what its completion is to carry
   * @return this
   * @throws IllegalStateException where the room is full, or not this thread's
   */
  public ReceiveRequests add(long id) {
    chain.add(id);
    return this;
  }

  /**
   * Adds memory for the message; a message fills the pieces in their order.
   *
   * @param region where to write, a region of the queue pair's domain with LOCAL_WRITE: any other
   *     completes with {@link CompletionStatus#LOCAL_PROTECTION_ERROR}, on soft-RoCE with {@link
   *     CompletionStatus#LOCAL_QUEUE_PAIR_OPERATION_ERROR}
   * @param offset the first byte within the region
   * @param length how many bytes, 0 to 4 GiB - 1
   * @return this
   * @throws IndexOutOfBoundsException where the piece does not lie within the region
   * @throws IllegalArgumentException where the request has as many pieces as the queue pair allows
   * @throws IllegalStateException where there is no request, the region is closed, or the thread is
   *     the wrong one
   */
  public ReceiveRequests into(MemoryRegion region, long offset, long length) {
    chain.addPiece(region.addressOf(offset, length), length, region.key());
    return this;
  }

  /**
   * Adds memory for the message, as {@link #into(MemoryRegion, long, long)} does.
   *
   * @param slice where to write
   * @return this
   * @throws IllegalArgumentException where the request has as many pieces as the queue pair allows
   * @throws IllegalStateException where there is no request, the region is closed, or the thread is
   *     the wrong one
   */
  public ReceiveRequests into(MemorySlice slice) {
    return into(slice.region(), slice.offset(), slice.length());
  }

  /**
   * Posts the requests in one call, {@code ibv_post_recv}, {@code ibv_post_srq_recv} or {@code
   * ibv_post_wq_recv}, and empties the room.
   *
   * @return how many were posted; 0, without a call, where there are none
   * @throws PostException where the provider refuses one: ENOMEM where the receive queue is full
   * @throws IllegalStateException where the queue pair is in RESET or closed, or the thread is the
   *     wrong one; the requests are kept
   */
  public int post() {
    if (queuePair != null) {
      queuePair.checkReceives();
    }
    return chain.post();
  }

  /**
   * How many requests wait to be posted.
   *
   * @return the number
   */
  public int size() {
    return chain.size();
  }

  /**
   * Drops the requests that wait to be posted.
   *
   * @throws IllegalStateException where the queue pair is closed, or the thread is the wrong one
   */
  public void clear() {
    chain.clear();
  }

  /**
   * Gives it up, so that the next thread that adds to it, posts or clears it owns it.
   *
   * @throws IllegalStateException where the queue pair is closed, or the thread is the wrong one
   */
  public void release() {
    chain.release();
  }
}
