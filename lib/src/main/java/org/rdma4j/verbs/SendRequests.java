package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.datapath.ExtendedQueuePair;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.datapath.Referent;
import org.rdma4j.datapath.Referents;
import org.rdma4j.datapath.RequestChain;
import org.rdma4j.datapath.SendLayout;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NetworkOrder;
import org.rdma4j.platform.Range;

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
  private final QueuePair queuePair;
  private final RequestChain chain;
  private final int maxInline;
  private final int maxHeader;

  /**
   * A bit for each opcode that the queue pair's type allows. It protects more than the order: what
   * is the remote address of a write is the pointer to the address handle of a datagram.
   */
  private final long opcodes;

  /** SEND where that is allowed. */
  private final int initialOpcode;

  /** Of the current request. */
  private int flags;

  /** Null until a request binds. */
  private @Nullable PendingBinds binds;

  /** Of datagrams, each of which must point to an address handle, and of binds. */
  private @Nullable Referents referents;

  SendRequests(QueuePair queuePair, int max, HotCalls posts) {
    RdmaDevice device = queuePair.domain().device();
    ExtendedQueuePair extended = queuePair.extended();
    this.queuePair = queuePair;
    this.maxInline = queuePair.capabilities().inlineBytes();
    this.maxHeader = queuePair.segmentHeaderBytes();
    this.opcodes = AllowedOpcodes.of(queuePair);
    this.initialOpcode =
        (opcodes >>> SendLayout.SEND & 1) == 0 ? SendLayout.NO_OPCODE : SendLayout.SEND;
    this.chain =
        new RequestChain(
            new HotCall.Target(
                posts,
                "SendRequests",
                device.callStyle().isCritical(),
                extended == null ? DataPath.ibv_post_send$op(device.context()) : 0,
                queuePair.pointer()),
            extended == null ? "ibv_post_send" : "ibv_wr_complete",
            SendLayout.SIZE,
            max,
            queuePair.capabilities().sendSges(),
            maxInline + maxHeader,
            PostException::new,
            extended);
    if (queuePair.type() == QueuePairType.UNRELIABLE_DATAGRAM) {
      refer(Referent.MISSING);
    } else if (queuePair.type() == QueuePairType.XRC_SEND) {
      refer(Referent.MISSING_QUEUE);
    }
  }

  private Referents refer(Referent initial) {
    Referents made = referents;
    if (made == null) {
      made = chain.refer(initial);
      queuePair.domain().referringPosts().add(chain);
      referents = made;
    }
    return made;
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
    RawMemory.putInt(request + SendLayout.SEND_FLAGS, 0);
    flags = 0;
    RawMemory.putInt(request + SendLayout.OPCODE, initialOpcode);
    if (referents != null) {
      referents.reset(chain.index(request));
    }
    return this;
  }

  /**
   * Makes the request a SEND, {@code IBV_WR_SEND}, which it is from the start.
   *
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one
   */
  public SendRequests send() {
    become(SendLayout.SEND);
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
    RawMemory.putInt(
        become(SendLayout.SEND_WITH_IMM) + SendLayout.IMM_DATA, NetworkOrder.of(immediate));
    return this;
  }

  /**
   * Makes the request a SEND that invalidates a key of the receiver, {@code IBV_WR_SEND_WITH_INV}.
   * Soft-RoCE (Linux 6.1) brings the receiver's kernel down where the window is of type 2 and not
   * bound.
   *
   * @param remoteKey the key of a memory window, or region, of the receiver
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one, or the
   *     type of the queue pair does not allow it
   */
  public SendRequests sendWithInvalidate(int remoteKey) {
    RawMemory.putInt(become(SendLayout.SEND_WITH_INV) + SendLayout.IMM_DATA, remoteKey);
    return this;
  }

  /**
   * Makes the request one that writes the memory added to it to the peer's, {@code
   * IBV_WR_RDMA_WRITE}.
   *
   * @param remoteAddress where to write, {@link MemoryRegion#remoteAddress} of the peer plus an
   *     offset
   * @param remoteKey the key of the peer's region, which needs REMOTE_WRITE, as the queue pair
   *     there does
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one, or the
   *     type of the queue pair does not allow it
   */
  public SendRequests write(long remoteAddress, int remoteKey) {
    remote(become(SendLayout.RDMA_WRITE), remoteAddress, remoteKey);
    return this;
  }

  /**
   * Makes the request a {@link #write} that takes a receive of the peer too, whose completion
   * carries immediate data: {@code IBV_WR_RDMA_WRITE_WITH_IMM}.
   *
   * @param remoteAddress where to write
   * @param remoteKey the key of the peer's region
   * @param immediate what the peer's completion carries, see {@link #sendWithImmediate}
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one, or the
   *     type of the queue pair does not allow it
   */
  public SendRequests writeWithImmediate(long remoteAddress, int remoteKey, int immediate) {
    long request = become(SendLayout.RDMA_WRITE_WITH_IMM);
    remote(request, remoteAddress, remoteKey);
    RawMemory.putInt(request + SendLayout.IMM_DATA, NetworkOrder.of(immediate));
    return this;
  }

  /**
   * Makes the request one that reads the peer's memory into that added to it, {@code
   * IBV_WR_RDMA_READ}.
   *
   * @param remoteAddress where to read, {@link MemoryRegion#remoteAddress} of the peer plus an
   *     offset
   * @param remoteKey the key of the peer's region, which needs REMOTE_READ, as the queue pair there
   *     does
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one, or the
   *     type of the queue pair does not allow it
   */
  public SendRequests read(long remoteAddress, int remoteKey) {
    remote(become(SendLayout.RDMA_READ), remoteAddress, remoteKey);
    return this;
  }

  /**
   * Makes the request one that replaces 8 bytes of the peer's memory where they are as expected,
   * {@code IBV_WR_ATOMIC_CMP_AND_SWP}. What they were is written to the 8 bytes added to the
   * request.
   *
   * @param remoteAddress where, divisible by 8
   * @param remoteKey the key of the peer's region, which needs REMOTE_ATOMIC, as the queue pair
   *     there does
   * @param expected the number that is replaced, in the byte order of the peer's host
   * @param replacement what replaces it
   * @return this
   * @throws IllegalArgumentException where 8 does not divide the address
   * @throws IllegalStateException where there is no request, or the thread is the wrong one, or the
   *     type of the queue pair does not allow it
   */
  public SendRequests compareAndSwap(
      long remoteAddress, int remoteKey, long expected, long replacement) {
    checkAligned(remoteAddress);
    long request = become(SendLayout.COMPARE_AND_SWAP);
    atomic(request, remoteAddress, remoteKey, expected);
    RawMemory.putLong(request + SendLayout.ATOMIC_SWAP, replacement);
    return this;
  }

  /**
   * Makes the request one that adds to 8 bytes of the peer's memory, {@code
   * IBV_WR_ATOMIC_FETCH_AND_ADD}. What they were is written to the 8 bytes added to the request.
   *
   * @param remoteAddress where, divisible by 8
   * @param remoteKey the key of the peer's region, which needs REMOTE_ATOMIC, as the queue pair
   *     there does
   * @param addend what to add, in the byte order of the peer's host
   * @return this
   * @throws IllegalArgumentException where 8 does not divide the address
   * @throws IllegalStateException where there is no request, or the thread is the wrong one, or the
   *     type of the queue pair does not allow it
   */
  public SendRequests fetchAndAdd(long remoteAddress, int remoteKey, long addend) {
    checkAligned(remoteAddress);
    atomic(become(SendLayout.FETCH_AND_ADD), remoteAddress, remoteKey, addend);
    return this;
  }

  /**
   * Makes the request one that invalidates a key of this side, {@code IBV_WR_LOCAL_INV}. Soft-RoCE
   * (Linux 6.1) brings the kernel down where the window is not bound.
   *
   * @param key the remote key of a memory window of type 2
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one, or the
   *     type of the queue pair does not allow it
   */
  public SendRequests invalidate(int key) {
    long request = become(SendLayout.LOCAL_INV);
    RawMemory.putInt(request + SendLayout.IMM_DATA, key);
    if (queuePair.type() == QueuePairType.XRC_SEND) {
      refer(Referent.MISSING_QUEUE).fill(chain.index(request));
    }
    return this;
  }

  /**
   * Makes the request one that writes 8 bytes to the peer's memory at once, so that nobody sees
   * some of them alone: {@code IBV_WR_ATOMIC_WRITE}. Only extended queue pairs can, with {@link
   * SendOperation#ATOMIC_WRITE}; the request takes no memory besides.
   *
   * @param remoteAddress where, divisible by 8
   * @param remoteKey the key of the peer's region, which needs REMOTE_WRITE, as the queue pair
   *     there does
   * @param value the bytes, as a number of this host
   * @return this
   * @throws IllegalArgumentException where 8 does not divide the address
   * @throws IllegalStateException where there is no request, or the thread is the wrong one, or the
   *     queue pair does not allow it
   */
  public SendRequests atomicWrite(long remoteAddress, int remoteKey, long value) {
    checkAligned(remoteAddress);
    atomic(become(SendLayout.ATOMIC_WRITE), remoteAddress, remoteKey, value);
    return this;
  }

  /**
   * Makes the request a SEND that the device cuts into packets, {@code IBV_WR_TSO}, each of which
   * begins with the header. For raw packets, and datagrams that carry IP; the request may not be
   * inline besides.
   *
   * @param header where the bytes of the header are, on or off the heap; they are copied
   * @param offset the first byte within it
   * @param length how many, from 1 to {@link QueuePairConfig#segmentHeaderBytes}
   * @param segmentBytes the most bytes of the message in a packet, {@code mss}, 1 to 65535
   * @return this
   * @throws IndexOutOfBoundsException where the header does not lie within its source
   * @throws IllegalArgumentException where a length is out of range
   * @throws IllegalStateException where there is no request, it is an inline one, the source's
   *     arena is closed, the thread is the wrong one, or the queue pair does not allow it
   */
  public SendRequests segmented(MemorySegment header, long offset, int length, int segmentBytes) {
    long request = allow(SendLayout.TSO);
    if ((flags & SendLayout.INLINE) != 0) {
      throw inlineSegments();
    }
    Range.check("length", length, 1, maxHeader);
    Range.check("segmentBytes", segmentBytes, 1, 0xffff);
    long kept = chain.keep(request, maxInline, header, offset, length);
    RawMemory.putLong(request + SendLayout.TSO_HEADER, kept);
    RawMemory.putShort(request + SendLayout.TSO_HEADER_SIZE, (short) length);
    RawMemory.putShort(request + SendLayout.TSO_MSS, (short) segmentBytes);
    RawMemory.putInt(request + SendLayout.OPCODE, SendLayout.TSO);
    return this;
  }

  /**
   * Names the shared receive queue that the message goes to, over an extended reliable connection.
   * Each request needs one, but for binds and invalidations; it holds for one request.
   *
   * @param number what {@link SharedReceiveQueue#number} of the peer says
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one, or the
   *     queue pair is of another type
   */
  public SendRequests toSharedReceiveQueue(int number) {
    long request = chain.current();
    if (queuePair.type() != QueuePairType.XRC_SEND) {
      throw new IllegalStateException(
          queuePair + " is of type " + queuePair.type() + ", whose peer has one queue");
    }
    RawMemory.putInt(request + SendLayout.XRC_REMOTE_SRQN, number);
    refer(Referent.MISSING_QUEUE).fill(chain.index(request));
    return this;
  }

  /**
   * Gives the datagram its destination. Each needs one; it holds for one request.
   *
   * @param handle the way there, of the same domain
   * @param queuePairNumber the number of the queue pair there, 0 to 0xffffff
   * @param queueKey the key that that queue pair asks for
   * @return this
   * @throws IllegalArgumentException where the handle belongs to another domain, or the number is
   *     out of range
   * @throws IllegalStateException where there is no request, or the thread is the wrong one, the
   *     handle is closed, or the queue pair sends no datagrams
   */
  public SendRequests to(AddressHandle handle, int queuePairNumber, int queueKey) {
    long request = chain.current();
    if (queuePair.type() != QueuePairType.UNRELIABLE_DATAGRAM) {
      throw new IllegalStateException(
          queuePair + " is of type " + queuePair.type() + ", which needs no destination");
    }
    if (!queuePair.domain().isSameAs(handle.domain())) {
      throw new IllegalArgumentException("the " + handle + " belongs to another protection domain");
    }
    Range.check("queuePairNumber", queuePairNumber, 0, 0xff_ffff);
    handle.referent().check();
    RawMemory.putLong(request + SendLayout.UD_AH, handle.address());
    RawMemory.putInt(request + SendLayout.UD_REMOTE_QPN, queuePairNumber);
    RawMemory.putInt(request + SendLayout.UD_REMOTE_QKEY, queueKey);
    refer(Referent.MISSING).set(chain.index(request), handle.referent(), Referent.NONE);
    return this;
  }

  /**
   * Makes the request one that binds a memory window of type 2 to a part of a region, {@code
   * IBV_WR_BIND_MW}, and gives the window its next {@link MemoryWindow#remoteKey key}. This
   * allocates.
   *
   * @param window a window of type 2 of the same domain
   * @param part what to open, at least 1 byte of a region of the same domain with
   *     MEMORY_WINDOW_BIND
   * @param access what peers may do: any of REMOTE_READ, REMOTE_WRITE and REMOTE_ATOMIC, the latter
   *     two where the region has LOCAL_WRITE
   * @return this
   * @throws IllegalArgumentException where the window is of type 1 or another domain, the part is
   *     empty, or the region or the flags do not allow it
   * @throws IllegalStateException where there is no request, or the thread is the wrong one, the
   *     type of the queue pair does not allow it, or something is closed
   */
  public SendRequests bind(MemoryWindow window, MemorySlice part, AccessFlag... access) {
    long request = allow(SendLayout.BIND_MW);
    window.checkType2(queuePair.domain());
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(List.of(access));
    window.checkBind(part, flags);
    MemoryRegion region = part.region();
    long address = region.addressOf(part.offset(), part.length());
    region
        .lifetime()
        .whileOpen(
            () ->
                window
                    .lifetime()
                    .whileOpen(
                        () -> {
                          int key = window.nextKey();
                          RawMemory.putLong(
                              request + SendLayout.BIND_WINDOW, window.pointer().address());
                          RawMemory.putInt(request + SendLayout.BIND_RKEY, key);
                          RawMemory.putLong(
                              request + SendLayout.BIND_REGION, region.pointer().address());
                          RawMemory.putLong(request + SendLayout.BIND_ADDR, address);
                          RawMemory.putLong(request + SendLayout.BIND_LENGTH, part.length());
                          RawMemory.putInt(
                              request + SendLayout.BIND_ACCESS, NativeConstants.mask(flags));
                          refer(Referent.NONE)
                              .set(chain.index(request), window.referent(), region.referent());
                          RawMemory.putInt(request + SendLayout.OPCODE, SendLayout.BIND_MW);
                          MemoryWindow.Binding before =
                              window.requested(region, queuePair.windows(), key);
                          binds().add(request, window, key, before);
                          return true;
                        }));
    return this;
  }

  private PendingBinds binds() {
    PendingBinds made = binds;
    if (made == null) {
      made = new PendingBinds(chain);
      binds = made;
    }
    return made;
  }

  private long become(int opcode) {
    long request = allow(opcode);
    RawMemory.putInt(request + SendLayout.OPCODE, opcode);
    return request;
  }

  /** The request, where it may be of that opcode; what can fail comes before it is. */
  private long allow(int opcode) {
    long request = chain.current();
    if ((opcodes >>> opcode & 1) == 0) {
      throw new IllegalStateException(
          queuePair
              + " is of type "
              + queuePair.type()
              + ", which does not allow work requests of opcode "
              + opcode);
    }
    return request;
  }

  private static void remote(long request, long address, int key) {
    RawMemory.putLong(request + SendLayout.RDMA_REMOTE_ADDR, address);
    RawMemory.putInt(request + SendLayout.RDMA_RKEY, key);
  }

  /** Before the request becomes an atomic, which it else would be without an address. */
  private static void checkAligned(long address) {
    if ((address & (Long.BYTES - 1)) != 0) {
      throw new IllegalArgumentException(
          "remoteAddress is 0x" + Long.toHexString(address) + ", must be divisible by 8");
    }
  }

  private static void atomic(long request, long address, int key, long compareOrAdd) {
    RawMemory.putLong(request + SendLayout.ATOMIC_REMOTE_ADDR, address);
    RawMemory.putInt(request + SendLayout.ATOMIC_RKEY, key);
    RawMemory.putLong(request + SendLayout.ATOMIC_COMPARE_ADD, compareOrAdd);
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
    return flag(SendLayout.SIGNALED);
  }

  /**
   * Has the receiver's completion count as solicited, {@code IBV_SEND_SOLICITED}, see {@link
   * CompletionQueue#requestNotification}.
   *
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one
   */
  public SendRequests solicited() {
    return flag(SendLayout.SOLICITED);
  }

  /**
   * Has the request wait until the reads and atomics before it are complete, {@code
   * IBV_SEND_FENCE}.
   *
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one
   */
  public SendRequests fenced() {
    return flag(SendLayout.FENCE);
  }

  /**
   * Has the device work out the checksums of IP, TCP and UDP, {@code IBV_SEND_IP_CSUM}, where it
   * can.
   *
   * @return this
   * @throws IllegalStateException where there is no request, or the thread is the wrong one
   */
  public SendRequests checksummed() {
    return flag(SendLayout.IP_CSUM);
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
    chain.current();
    if ((flags & SendLayout.INLINE) != 0) {
      throw mixed();
    }
    chain.addPiece(region.addressOf(offset, length), length, region.key());
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
   * Adds memory that a read, or what an atomic found, is written to: the same as {@link
   * #from(MemoryRegion, long, long)}, in the word for that direction.
   *
   * @param region where to write, a region of the queue pair's domain with LOCAL_WRITE
   * @param offset the first byte within the region
   * @param length how many bytes, 0 to 4 GiB - 1; 8 for an atomic
   * @return this
   * @throws IndexOutOfBoundsException where the piece does not lie within the region
   * @throws IllegalArgumentException where the request has as many pieces as the queue pair allows
   * @throws IllegalStateException where there is no request, it is an inline one, the region is
   *     closed, or the thread is the wrong one
   */
  public SendRequests into(MemoryRegion region, long offset, long length) {
    return from(region, offset, length);
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
   * @throws IllegalStateException where there is no request, it has pieces of a region or is
   *     segmented, the source's arena is closed, or the thread is the wrong one
   */
  public SendRequests inline(MemorySegment source, long offset, long length) {
    long request = chain.current();
    if ((flags & SendLayout.INLINE) == 0 && chain.hasPieces()) {
      throw mixed();
    }
    if (maxHeader != 0 && RawMemory.getInt(request + SendLayout.OPCODE) == SendLayout.TSO) {
      throw inlineSegments();
    }
    int before = chain.inlineLength(request);
    if (length < 0 || length > maxInline - before) {
      throw tooLong(before, length);
    }
    chain.putInline(request, before, source, offset, (int) length);
    if (length != 0) {
      flag(SendLayout.INLINE);
    }
    return this;
  }

  /**
   * Posts the requests in one call, {@code ibv_post_send}, and empties the room.
   *
   * @return how many were posted; 0, without a call, where there are none
   * @throws PostException where the provider refuses one: ENOMEM where the send queue is full
   * @throws IllegalStateException where the queue pair is not ready to send or closed, a datagram
   *     has no destination or a closed one, or the thread is the wrong one; the requests are kept
   */
  public int post() {
    queuePair.checkSends();
    return binds == null ? chain.post() : binds.post();
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
    if (binds != null) {
      binds.drop();
    }
  }

  /**
   * Gives it up, so that the next thread that adds to it, posts or clears it owns it.
   *
   * @throws IllegalStateException where the queue pair is closed, or the thread is the wrong one
   */
  public void release() {
    chain.release();
  }

  private SendRequests flag(int flag) {
    long request = chain.current();
    flags |= flag;
    RawMemory.putInt(request + SendLayout.SEND_FLAGS, flags);
    return this;
  }

  private static IllegalStateException mixed() {
    return new IllegalStateException("a request is either inline or from regions, not both");
  }

  private static IllegalStateException inlineSegments() {
    return new IllegalStateException("a segmented request is from regions, it cannot be inline");
  }

  private IllegalArgumentException tooLong(int before, long length) {
    return new IllegalArgumentException(
        ("%d inline bytes after %d, but a request of this queue pair has at most %d: create it with"
                + " more inlineBytes, or send from a region")
            .formatted(length, before, maxInline));
  }
}
