package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_send_wr;
import org.rdma4j.bindings.generated.rdma_h;
import org.rdma4j.bindings.inlines.DataPath;

/**
 * Send requests, {@code struct ibv_send_wr}, built in place in native memory and posted together:
 *
 * <pre>{@code
 * requests.add(1).send().from(region, 0, 64);
 * requests.add(2).sendWithImmediate(42).inline(header, 0, 16).signaled();
 * requests.post();
 * }</pre>
 *
 * <p>Nothing here allocates. It belongs to the first thread that uses it, until that calls {@link
 * #release}: use by another throws IllegalStateException. After the queue pair is closed every
 * method throws IllegalStateException; a close in the middle of a post waits until that returns.
 */
public final class SendRequests {
  private static final long OPCODE = ibv_send_wr.opcode$offset();
  private static final long SEND_FLAGS = ibv_send_wr.send_flags$offset();
  private static final long IMM_DATA = ibv_send_wr.imm_data$offset();
  private static final int SEND = rdma_h.IBV_WR_SEND();
  private static final int SEND_WITH_IMM = rdma_h.IBV_WR_SEND_WITH_IMM();
  private static final int SIGNALED = rdma_h.IBV_SEND_SIGNALED();
  private static final int SOLICITED = rdma_h.IBV_SEND_SOLICITED();
  private static final int INLINE = rdma_h.IBV_SEND_INLINE();

  private final QueuePair queuePair;
  private final RequestChain chain;
  private final int mostInline;

  SendRequests(QueuePair queuePair, int most, HotCalls posts) {
    RdmaDevice device = queuePair.domain().device();
    this.queuePair = queuePair;
    this.mostInline = queuePair.capabilities().inlineBytes();
    this.chain =
        new RequestChain(
            "ibv_post_send",
            posts,
            "SendRequests",
            device.callStyle(),
            DataPath.ibv_post_send$op(device.context()),
            queuePair.pointer(),
            (int) ibv_send_wr.layout().byteSize(),
            most,
            queuePair.capabilities().sendSges(),
            mostInline);
  }

  /**
   * Begins the next request: a SEND of no bytes that raises no completion when it succeeds.
   *
   * @param id what its completion is to carry
   * @return this
   * @throws IllegalStateException where the room is full, or not this thread's
   */
  public SendRequests add(long id) {
    long request = chain.add(id);
    // In this order, or the compiler makes one store of two, from which processors forward slowly.
    RawMemory.putInt(request + SEND_FLAGS, 0);
    RawMemory.putInt(request + OPCODE, SEND);
    return this;
  }

  /**
   * Makes the request a SEND, {@code IBV_WR_SEND}, which it is from the start.
   *
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one
   */
  public SendRequests send() {
    RawMemory.putInt(chain.current() + OPCODE, SEND);
    return this;
  }

  /**
   * Makes the request a SEND with immediate data, {@code IBV_WR_SEND_WITH_IMM}.
   *
   * @param immediate what the receiver's completion carries; sent in network byte order, so that it
   *     is the same number there, and what {@code ntohl(imm_data)} is in C
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one
   */
  public SendRequests sendWithImmediate(int immediate) {
    long request = chain.current();
    RawMemory.putInt(request + OPCODE, SEND_WITH_IMM);
    RawMemory.putInt(request + IMM_DATA, NetworkOrder.of(immediate));
    return this;
  }

  /**
   * Has the request raise a completion also when it succeeds, {@code IBV_SEND_SIGNALED}. A send
   * queue frees the places of requests only when a completion after them is polled, so at least one
   * request in each send depth must be signalled.
   *
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one
   */
  public SendRequests signaled() {
    return flag(SIGNALED);
  }

  /**
   * Has the receiver's completion count as solicited, {@code IBV_SEND_SOLICITED}, see {@link
   * CompletionQueue#requestNotification}.
   *
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one
   */
  public SendRequests solicited() {
    return flag(SOLICITED);
  }

  /**
   * Adds memory to the message; the pieces are sent in their order.
   *
   * @param region what to send, a region of the queue pair's domain: any other completes with
   *     {@link CompletionStatus#LOCAL_PROTECTION_ERROR}, on soft-RoCE with {@link
   *     CompletionStatus#LOCAL_QUEUE_PAIR_OPERATION_ERROR}. It must not change until the request is
   *     complete
   * @param offset the first byte within the region
   * @param length how many bytes, 0 to 4 GiB - 1
   * @return this
   * @throws IndexOutOfBoundsException where the piece does not lie within the region
   * @throws IllegalArgumentException where the request has as many pieces as the queue pair allows
   * @throws IllegalStateException where there is no request, it is an inline one, the region is
   *     closed, or the thread is the wrong one
   */
  public SendRequests from(MemoryRegion region, long offset, long length) {
    if ((RawMemory.getInt(chain.current() + SEND_FLAGS) & INLINE) != 0) {
      throw mixed();
    }
    chain.addPiece(region, offset, length);
    return this;
  }

  /**
   * Adds memory to the message, as {@link #from(MemoryRegion, long, long)} does.
   *
   * @param slice what to send
   * @return this
   * @throws IllegalArgumentException where the request has as many pieces as the queue pair allows
   * @throws IllegalStateException where there is no request, it is an inline one, the region is
   *     closed, or the thread is the wrong one
   */
  public SendRequests from(MemorySlice slice) {
    return from(slice.region(), slice.offset(), slice.length());
  }

  /**
   * Copies bytes into the request itself, {@code IBV_SEND_INLINE}: they may come from any memory,
   * registered or not, and change as soon as this returns. Further calls add to them.
   *
   * @param source where the bytes are, on or off the heap
   * @param offset the first byte within the source
   * @param length how many, up to {@link QueuePairCapabilities#inlineBytes} in one request
   * @return this
   * @throws IndexOutOfBoundsException where they do not lie within the source
   * @throws IllegalArgumentException where the request would have more inline bytes than the queue
   *     pair allows
   * @throws IllegalStateException where there is no request, it has pieces of a region, the
   *     source's arena is closed, or the thread is the wrong one
   */
  public SendRequests inline(MemorySegment source, long offset, long length) {
    long request = chain.current();
    int flags = RawMemory.getInt(request + SEND_FLAGS);
    if ((flags & INLINE) == 0 && RequestChain.pieces(request) != 0) {
      throw mixed();
    }
    int before = chain.inlineLength(request);
    if (length < 0 || length > mostInline - before) {
      throw tooLong(before, length);
    }
    chain.putInline(request, before, source, offset, (int) length);
    if (length != 0) {
      RawMemory.putInt(request + SEND_FLAGS, flags | INLINE);
    }
    return this;
  }

  /**
   * Posts the requests in one call, {@code ibv_post_send}, and empties the room.
   *
   * @return how many were posted; 0, without a call, where there are none
   * @throws PostException where the provider refuses one: ENOMEM where the send queue is full
   * @throws IllegalStateException where the queue pair is not ready to send or closed, or the
   *     thread is the wrong one; the requests are kept
   */
  public int post() {
    queuePair.checkSends();
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
   * Gives it up, so that the next thread that uses it owns it.
   *
   * @throws IllegalStateException where the queue pair is closed, or the thread is the wrong one
   */
  public void release() {
    chain.disown();
  }

  private SendRequests flag(int flag) {
    long flags = chain.current() + SEND_FLAGS;
    RawMemory.putInt(flags, RawMemory.getInt(flags) | flag);
    return this;
  }

  private static IllegalStateException mixed() {
    return new IllegalStateException("a request is either inline or from regions, not both");
  }

  private IllegalArgumentException tooLong(int before, long length) {
    return new IllegalArgumentException(
        ("%d inline bytes after %d, but a request of this queue pair has at most %d: create it with"
                + " more inlineBytes, or send from a region")
            .formatted(length, before, mostInline));
  }
}
