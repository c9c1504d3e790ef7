package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.inlines.DataPath;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.HotCalls;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.datapath.Referent;
import org.rdma4j.datapath.Referents;
import org.rdma4j.datapath.RequestChain;
import org.rdma4j.datapath.RequestCopies;
import org.rdma4j.datapath.RequestLayout;
import org.rdma4j.datapath.SendLayout;
import org.rdma4j.platform.NativeConstants;
import org.rdma4j.platform.NetworkOrder;
import org.rdma4j.platform.Range;

/**
 * A batch of send requests, {@code struct ibv_send_wr}: they are built in place in native memory
 * and posted in one call.
 *
 * <p>{@link #add} begins a request. The calls after it say what the request does and which memory
 * it uses, until the next {@code add} or {@link #post}:
 *
 * <pre>{@code
 * SendRequests requests = queuePair.sendRequests(16);
 * requests.add(1).send().from(region, 0, 64);
 * requests.add(2).sendWithImmediate(42).inline(header, 0, 16).signaled();
 * requests.post();
 * }</pre>
 *
 * <p>A request that succeeds creates a completion only if it is {@link #signaled}, or if the queue
 * pair was created with {@link QueuePairConfig#signalAll}. The memory of a request must not change
 * until the request has completed.
 *
 * <p>No method allocates, except {@link #bind}. A batch belongs to the first thread that uses it,
 * until that thread calls {@link #release}. Every method but {@link #size} throws
 * IllegalStateException if another thread owns the batch or the queue pair is closed, which their
 * descriptions do not repeat. If the queue pair is closed during a post, the close waits until the
 * post returns.
 *
 * @see QueuePair#sendRequests(int)
 * @see PreparedSends
 * @see ReceiveRequests
 * @see Completions
 */
// Users cannot name the superclass, nor call it: its members are protected, and this is final.
public final class SendRequests extends RequestChain {
  private final QueuePair queuePair;
  private final @Nullable ChainPosting sending;
  private final HotCalls posts;
  private final int maxInline;
  private final int maxHeader;

  /**
   * A bit for each opcode that the type of the queue pair allows. A wrong opcode could crash the
   * JVM: the field that holds the remote address of a write holds the pointer to the address handle
   * of a datagram.
   */
  private final long opcodes;

  /** SEND if the queue pair allows it, else NO_OPCODE. */
  private final int initialOpcode;

  /** The binds among the requests; null until the first one. */
  private @Nullable PendingBinds binds;

  /** The regions whose bytes requests send inline; null until the first one. */
  private @Nullable InlineRegions inlineRegions;

  /** The region whose bytes were last sent inline. */
  private @Nullable MemoryRegion inlineRegion;

  private boolean isListed;

  SendRequests(QueuePair queuePair, int max, HotCalls posts) {
    super(
        target("SendRequests", queuePair, posts),
        new Size(
            SendLayout.SIZE,
            max,
            queuePair.capabilities().sendSges(),
            queuePair.capabilities().inlineBytes() + queuePair.segmentHeaderBytes()));
    this.queuePair = queuePair;
    this.sending = queuePair.sending();
    this.posts = posts;
    this.maxInline = queuePair.capabilities().inlineBytes();
    this.maxHeader = queuePair.segmentHeaderBytes();
    this.opcodes = AllowedOpcodes.of(queuePair);
    this.initialOpcode =
        (opcodes >>> SendLayout.SEND & 1) == 0 ? SendLayout.NO_OPCODE : SendLayout.SEND;
    if (queuePair.type().isDatagram()) {
      referTo(Referent.MISSING);
    } else if (queuePair.type() == QueuePairType.XRC_SEND) {
      referTo(Referent.MISSING_QUEUE);
    }
  }

  private static HotCall.Target target(String name, QueuePair queuePair, HotCalls posts) {
    RdmaDevice device = queuePair.domain().device();
    return new HotCall.Target(
        posts,
        name,
        device.callsCritically(),
        queuePair.sending() == null ? DataPath.ibv_post_send$op(device.context()) : 0,
        queuePair.pointer());
  }

  private Referents referTo(Referent initial) {
    Referents made = refer(initial);
    if (!isListed) {
      isListed = true;
      queuePair.domain().referringPosts().add(this);
    }
    return made;
  }

  @Override
  protected RuntimeException refusal(int errno, int index) {
    return refusal(queuePair, errno, index);
  }

  static PostException refusal(QueuePair queuePair, int errno, int index) {
    return new PostException(
        queuePair.isExtended() ? "ibv_wr_complete" : "ibv_post_send", errno, index);
  }

  @Override
  protected boolean isFree() {
    return super.isFree()
        && queuePair.takesSends()
        && (inlineRegions == null || inlineRegions.areOpen());
  }

  @Override
  protected void inspect() {
    queuePair.checkSends();
    super.inspect();
    if (inlineRegions != null && !inlineRegions.areOpen()) {
      forEach(this::checkInline);
      inlineRegions.dropClosed();
    }
  }

  @Override
  protected int postExtended(long requests, long badRequest) {
    return sending == null
        ? super.postExtended(requests, badRequest)
        : sending.post(requests, badRequest);
  }

  /** Throws if a request sends bytes inline of a memory region that has been closed since. */
  private void checkInline(long request) {
    if ((RawMemory.getInt(request + SendLayout.SEND_FLAGS) & SendLayout.INLINE) != 0) {
      long piece = RawMemory.getLong(request + RequestLayout.SG_LIST);
      long address = RawMemory.getLong(piece + RequestLayout.SGE_ADDR);
      if (!contains(address)) {
        inlineRegions()
            .check(
                RawMemory.getInt(piece + RequestLayout.SGE_LKEY),
                address,
                RawMemory.getInt(piece + RequestLayout.SGE_LENGTH));
      }
    }
  }

  private InlineRegions inlineRegions() {
    InlineRegions made = inlineRegions;
    if (made == null) {
      made = new InlineRegions(this);
      inlineRegions = made;
    }
    return made;
  }

  /**
   * Begins the next request. Until other methods change it, the request is an empty SEND that
   * creates no completion when it succeeds.
   *
   * @param id the number that identifies the request in its completion
   * @return this
   * @throws IllegalStateException if the batch is full
   */
  public SendRequests add(long id) {
    long request = begin(id);
    // In this order: otherwise the compiler merges two stores, and loads that follow are slow,
    // because processors forward data badly from a merged store.
    RawMemory.putInt(request + SendLayout.SEND_FLAGS, 0);
    RawMemory.putInt(request + SendLayout.OPCODE, initialOpcode);
    return this;
  }

  /**
   * Makes the request a SEND, {@code IBV_WR_SEND}. This is the default.
   *
   * @return this
   * @throws IllegalStateException if there is no request
   */
  public SendRequests send() {
    become(SendLayout.SEND);
    return this;
  }

  /**
   * Makes the request a SEND with immediate data, {@code IBV_WR_SEND_WITH_IMM}.
   *
   * @param immediate the number that the receiver's completion carries. It is sent in network byte
   *     order: the receiver reads the same number, and a C program reads it as {@code
   *     ntohl(imm_data)}
   * @return this
   * @throws IllegalStateException if there is no request
   */
  public SendRequests sendWithImmediate(int immediate) {
    RawMemory.putInt(
        become(SendLayout.SEND_WITH_IMM) + SendLayout.IMM_DATA, NetworkOrder.of(immediate));
    return this;
  }

  /**
   * Makes the request a SEND that invalidates a key of the receiver, {@code IBV_WR_SEND_WITH_INV}.
   * On soft-RoCE (Linux 6.1) the receiver's kernel crashes if the key is that of a memory window of
   * type 2 that is not bound.
   *
   * @param remoteKey the remote key of a memory window or memory region of the receiver
   * @return this
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests sendWithInvalidate(int remoteKey) {
    RawMemory.putInt(become(SendLayout.SEND_WITH_INV) + SendLayout.IMM_DATA, remoteKey);
    return this;
  }

  /**
   * Makes the request an RDMA write, {@code IBV_WR_RDMA_WRITE}: it copies the memory that {@link
   * #from} adds to memory of the peer. The program on the peer does not notice it.
   *
   * @param remoteAddress the address to write to: {@link MemoryRegion#remoteAddress} of the peer
   *     plus an offset
   * @param remoteKey the remote key of the peer's memory region; the region and the peer's queue
   *     pair both need REMOTE_WRITE
   * @return this
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests write(long remoteAddress, int remoteKey) {
    setRemote(become(SendLayout.RDMA_WRITE), remoteAddress, remoteKey);
    return this;
  }

  /**
   * Makes the request an RDMA write into a part of memory that the peer has named, {@code
   * IBV_WR_RDMA_WRITE}.
   *
   * @param target the memory of the peer
   * @param offset the offset in it of the first byte to write
   * @param length the length of the part: the pieces and inline bytes of the request must not be
   *     longer together
   * @return this
   * @throws IndexOutOfBoundsException if the part does not lie within the memory, or the request
   *     already has more bytes
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests write(RemoteMemory target, long offset, long length) {
    return write(addressOf(target, offset, length), target.key()).within(target, offset);
  }

  /**
   * Makes the request a {@link #write(long, int) write} that also uses up a receive request of the
   * peer, whose completion carries immediate data: {@code IBV_WR_RDMA_WRITE_WITH_IMM}.
   *
   * @param remoteAddress the address to write to
   * @param remoteKey the remote key of the peer's memory region
   * @param immediate the number that the peer's completion carries, see {@link #sendWithImmediate}
   * @return this
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests writeWithImmediate(long remoteAddress, int remoteKey, int immediate) {
    long request = become(SendLayout.RDMA_WRITE_WITH_IMM);
    setRemote(request, remoteAddress, remoteKey);
    RawMemory.putInt(request + SendLayout.IMM_DATA, NetworkOrder.of(immediate));
    return this;
  }

  /**
   * Makes the request an RDMA write into a part of memory that the peer has named, with immediate
   * data: {@code IBV_WR_RDMA_WRITE_WITH_IMM}.
   *
   * @param target the memory of the peer
   * @param offset the offset in it of the first byte to write
   * @param length the length of the part: the pieces and inline bytes of the request must not be
   *     longer together
   * @param immediate the number that the peer's completion carries, see {@link #sendWithImmediate}
   * @return this
   * @throws IndexOutOfBoundsException if the part does not lie within the memory, or the request
   *     already has more bytes
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests writeWithImmediate(
      RemoteMemory target, long offset, long length, int immediate) {
    return writeWithImmediate(addressOf(target, offset, length), target.key(), immediate)
        .within(target, offset);
  }

  /** Returns the address of a part of the peer's memory, which the request will not exceed. */
  private long addressOf(RemoteMemory memory, long offset, long length) {
    long address = memory.addressOf(offset, length);
    limitPieces(length);
    return address;
  }

  /** Records where the memory of the peer ends: prepared requests must not move beyond it. */
  private SendRequests within(RemoteMemory memory, long offset) {
    RawMemory.putLong(current() + SendLayout.REMOTE_BYTES, memory.length() - offset);
    return this;
  }

  /**
   * Makes the request an RDMA read, {@code IBV_WR_RDMA_READ}: it copies memory of the peer to the
   * memory that {@link #into} adds. The program on the peer does not notice it.
   *
   * @param remoteAddress the address to read from: {@link MemoryRegion#remoteAddress} of the peer
   *     plus an offset
   * @param remoteKey the remote key of the peer's memory region; the region and the peer's queue
   *     pair both need REMOTE_READ
   * @return this
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests read(long remoteAddress, int remoteKey) {
    setRemote(become(SendLayout.RDMA_READ), remoteAddress, remoteKey);
    return this;
  }

  /**
   * Makes the request an RDMA read of a part of memory that the peer has named, {@code
   * IBV_WR_RDMA_READ}.
   *
   * @param source the memory of the peer
   * @param offset the offset in it of the first byte to read
   * @param length the length of the part: the pieces of the request must not be longer together
   * @return this
   * @throws IndexOutOfBoundsException if the part does not lie within the memory, or the request
   *     already has more bytes
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests read(RemoteMemory source, long offset, long length) {
    return read(addressOf(source, offset, length), source.key()).within(source, offset);
  }

  /**
   * Makes the request an atomic compare-and-swap, {@code IBV_WR_ATOMIC_CMP_AND_SWP}: it replaces 8
   * bytes of the peer's memory if they have the expected value. Their old value is written to the 8
   * bytes that {@link #into} adds, in both cases.
   *
   * @param remoteAddress the address of the 8 bytes, divisible by 8
   * @param remoteKey the remote key of the peer's memory region; the region and the peer's queue
   *     pair both need REMOTE_ATOMIC
   * @param expected the expected value, in the byte order of the peer's host
   * @param replacement the new value
   * @return this
   * @throws IllegalArgumentException if the address is not divisible by 8
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests compareAndSwap(
      long remoteAddress, int remoteKey, long expected, long replacement) {
    checkAligned(remoteAddress);
    long request = become(SendLayout.COMPARE_AND_SWAP);
    setAtomic(request, remoteAddress, remoteKey, expected);
    RawMemory.putLong(request + SendLayout.ATOMIC_SWAP, replacement);
    return this;
  }

  /**
   * Makes the request an atomic compare-and-swap of 8 bytes of memory that the peer has named,
   * {@code IBV_WR_ATOMIC_CMP_AND_SWP}.
   *
   * @param memory the memory of the peer
   * @param offset the offset in it of the 8 bytes, whose address must be divisible by 8
   * @param expected the expected value, in the byte order of the peer's host
   * @param replacement the new value
   * @return this
   * @throws IndexOutOfBoundsException if the 8 bytes do not lie within the memory
   * @throws IllegalArgumentException if the address is not divisible by 8
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests compareAndSwap(
      RemoteMemory memory, long offset, long expected, long replacement) {
    return compareAndSwap(memory.addressOf(offset, Long.BYTES), memory.key(), expected, replacement)
        .within(memory, offset);
  }

  /**
   * Makes the request an atomic fetch-and-add, {@code IBV_WR_ATOMIC_FETCH_AND_ADD}: it adds a
   * number to 8 bytes of the peer's memory. Their old value is written to the 8 bytes that {@link
   * #into} adds.
   *
   * @param remoteAddress the address of the 8 bytes, divisible by 8
   * @param remoteKey the remote key of the peer's memory region; the region and the peer's queue
   *     pair both need REMOTE_ATOMIC
   * @param addend the number to add, in the byte order of the peer's host
   * @return this
   * @throws IllegalArgumentException if the address is not divisible by 8
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests fetchAndAdd(long remoteAddress, int remoteKey, long addend) {
    checkAligned(remoteAddress);
    setAtomic(become(SendLayout.FETCH_AND_ADD), remoteAddress, remoteKey, addend);
    return this;
  }

  /**
   * Makes the request an atomic fetch-and-add to 8 bytes of memory that the peer has named, {@code
   * IBV_WR_ATOMIC_FETCH_AND_ADD}.
   *
   * @param memory the memory of the peer
   * @param offset the offset in it of the 8 bytes, whose address must be divisible by 8
   * @param addend the number to add, in the byte order of the peer's host
   * @return this
   * @throws IndexOutOfBoundsException if the 8 bytes do not lie within the memory
   * @throws IllegalArgumentException if the address is not divisible by 8
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests fetchAndAdd(RemoteMemory memory, long offset, long addend) {
    return fetchAndAdd(memory.addressOf(offset, Long.BYTES), memory.key(), addend)
        .within(memory, offset);
  }

  /**
   * Makes the request invalidate a key of this side, {@code IBV_WR_LOCAL_INV}. On soft-RoCE (Linux
   * 6.1) the kernel crashes if the window is not bound.
   *
   * @param key the remote key of a local memory window of type 2
   * @return this
   * @throws IllegalStateException if there is no request, or the type of the queue pair does not
   *     allow it
   */
  public SendRequests invalidate(int key) {
    long request = become(SendLayout.LOCAL_INV);
    RawMemory.putInt(request + SendLayout.IMM_DATA, key);
    if (queuePair.type() == QueuePairType.XRC_SEND) {
      referTo(Referent.MISSING_QUEUE).fill(index(request));
    }
    return this;
  }

  /**
   * Makes the request an atomic write of 8 bytes to the peer's memory, {@code IBV_WR_ATOMIC_WRITE}:
   * no reader sees only a part of them. This needs an extended queue pair with {@link
   * SendOperation#ATOMIC_WRITE}. The request uses no local memory.
   *
   * @param remoteAddress the address to write to, divisible by 8
   * @param remoteKey the remote key of the peer's memory region; the region and the peer's queue
   *     pair both need REMOTE_WRITE
   * @param value the bytes to write, as a number in the byte order of this host
   * @return this
   * @throws IllegalArgumentException if the address is not divisible by 8
   * @throws IllegalStateException if there is no request, or the queue pair does not allow it
   */
  public SendRequests atomicWrite(long remoteAddress, int remoteKey, long value) {
    checkAligned(remoteAddress);
    setAtomic(become(SendLayout.ATOMIC_WRITE), remoteAddress, remoteKey, value);
    return this;
  }

  /**
   * Makes the request an atomic write of 8 bytes of memory that the peer has named, {@code
   * IBV_WR_ATOMIC_WRITE}. Apart from that it is as {@link #atomicWrite(long, int, long)}.
   *
   * @param memory the memory of the peer
   * @param offset the offset in it of the 8 bytes, whose address must be divisible by 8
   * @param value the bytes to write, as a number in the byte order of this host
   * @return this
   * @throws IndexOutOfBoundsException if the 8 bytes do not lie within the memory
   * @throws IllegalArgumentException if the address is not divisible by 8
   * @throws IllegalStateException if there is no request, or the queue pair does not allow it
   */
  public SendRequests atomicWrite(RemoteMemory memory, long offset, long value) {
    return atomicWrite(memory.addressOf(offset, Long.BYTES), memory.key(), value)
        .within(memory, offset);
  }

  /**
   * Makes the request a flush of a range of the peer's memory, {@code IBV_WR_FLUSH}: when it has
   * completed, the writes that this queue pair posted to the range before it are where the type
   * says. This needs an extended queue pair with {@link SendOperation#FLUSH}. The request uses no
   * local memory.
   *
   * @param remoteAddress the address of the range
   * @param remoteKey the remote key of the peer's memory region; the region and the peer's queue
   *     pair both need {@link AccessFlag#FLUSH_GLOBAL}, {@link AccessFlag#FLUSH_PERSISTENT} or
   *     both, as the type says
   * @param length the length of the range in bytes, 0 to 4 GiB - 1
   * @param type what the flush guarantees
   * @return this
   * @throws IllegalArgumentException if the length is out of range
   * @throws IllegalStateException if there is no request, or the queue pair does not allow it
   */
  public SendRequests flush(long remoteAddress, int remoteKey, long length, FlushType type) {
    if (length < 0 || length > 0xffff_ffffL) {
      throw new IllegalArgumentException("length is " + length + ", must be from 0 to 4 GiB - 1");
    }
    return flush(remoteAddress, remoteKey, length, type, SendLayout.FLUSH_RANGE);
  }

  /**
   * Makes the request a flush of a part of memory that the peer has named, {@code IBV_WR_FLUSH}.
   * Apart from that it is as {@link #flush(long, int, long, FlushType)}.
   *
   * @param memory the memory of the peer
   * @param offset the offset in it of the first byte
   * @param length the length of the part in bytes, 0 to 4 GiB - 1
   * @param type what the flush guarantees
   * @return this
   * @throws IndexOutOfBoundsException if the part does not lie within the memory
   * @throws IllegalArgumentException if the length is out of range
   * @throws IllegalStateException if there is no request, or the queue pair does not allow it
   */
  public SendRequests flush(RemoteMemory memory, long offset, long length, FlushType type) {
    return flush(memory.addressOf(offset, length), memory.key(), length, type);
  }

  /**
   * Makes the request a flush of a whole memory region of the peer, {@code IBV_WR_FLUSH} with
   * {@code IBV_FLUSH_MR}. Apart from that it is as {@link #flush(long, int, long, FlushType)}.
   *
   * @param remoteKey the remote key of the peer's memory region
   * @param type what the flush guarantees
   * @return this
   * @throws IllegalStateException if there is no request, or the queue pair does not allow it
   */
  public SendRequests flushRegion(int remoteKey, FlushType type) {
    return flush(0, remoteKey, 0, type, SendLayout.FLUSH_REGION);
  }

  private SendRequests flush(long address, int key, long length, FlushType type, byte level) {
    int value = type.value();
    long request = become(SendLayout.FLUSH);
    setAtomic(request, address, key, length);
    RawMemory.putByte(request + SendLayout.FLUSH_TYPE, (byte) value);
    RawMemory.putByte(request + SendLayout.FLUSH_LEVEL, level);
    return this;
  }

  /**
   * Makes the request a segmented SEND, {@code IBV_WR_TSO}: the device cuts the message into
   * packets, each of which begins with a copy of the header. It is for raw packets, and for
   * datagrams that carry IP. The request must not be inline.
   *
   * @param header the memory that contains the header, on or off the heap; the header is copied
   * @param offset the offset of the header in that memory, in bytes
   * @param length the length of the header in bytes, from 1 to {@link
   *     QueuePairConfig#segmentHeaderBytes}
   * @param segmentBytes the maximum number of bytes of the message in one packet, {@code mss}, 1 to
   *     65535
   * @return this
   * @throws IndexOutOfBoundsException if the header does not lie within its source
   * @throws IllegalArgumentException if a length is out of range
   * @throws IllegalStateException if there is no request, the request is inline, the arena of the
   *     header is closed, or the queue pair does not allow it
   */
  public SendRequests segmented(MemorySegment header, long offset, int length, int segmentBytes) {
    long request = allow(SendLayout.TSO);
    if ((flags() & SendLayout.INLINE) != 0) {
      throw inlineSegments();
    }
    Range.check("length", length, 1, maxHeader);
    Range.check("segmentBytes", segmentBytes, 1, 0xffff);
    long kept = keep(request, maxInline, header, offset, length);
    RawMemory.putLong(request + SendLayout.TSO_HEADER, kept);
    RawMemory.putShort(request + SendLayout.TSO_HEADER_SIZE, (short) length);
    RawMemory.putShort(request + SendLayout.TSO_MSS, (short) segmentBytes);
    RawMemory.putInt(request + SendLayout.OPCODE, SendLayout.TSO);
    return this;
  }

  /**
   * Sets the shared receive queue of the peer that the message goes to, on a queue pair of type
   * XRC_SEND. Every request of such a queue pair needs one, except binds and invalidations. It
   * applies to this request only.
   *
   * @param number the {@link SharedReceiveQueue#number} at the peer
   * @return this
   * @throws IllegalStateException if there is no request, or the queue pair is of another type
   */
  public SendRequests toSharedReceiveQueue(int number) {
    long request = current();
    if (queuePair.type() != QueuePairType.XRC_SEND) {
      throw new IllegalStateException(
          queuePair
              + " is of type "
              + queuePair.type()
              + ", which cannot name a shared receive queue of the peer; only XRC_SEND can");
    }
    RawMemory.putInt(request + SendLayout.XRC_REMOTE_SRQN, number);
    referTo(Referent.MISSING_QUEUE).fill(index(request));
    return this;
  }

  /**
   * Sets the destination of the datagram, or of the read or write of a queue pair of type
   * SCALABLE_RELIABLE_DATAGRAM. Every request of such queue pairs needs one. It applies to this
   * request only.
   *
   * @param handle the address handle of the remote port, of the same protection domain
   * @param queuePairNumber the number of the remote queue pair, 0 to 0xffffff
   * @param queueKey the queue key of the remote queue pair
   * @return this
   * @throws IllegalArgumentException if the handle belongs to another domain, or the number is out
   *     of range
   * @throws IllegalStateException if there is no request, the handle is closed, or the queue pair
   *     is not for datagrams
   */
  public SendRequests to(AddressHandle handle, int queuePairNumber, int queueKey) {
    long request = current();
    if (!queuePair.type().isDatagram()) {
      throw new IllegalStateException(
          queuePair
              + " is of type "
              + queuePair.type()
              + ", which does not take a destination; only UNRELIABLE_DATAGRAM and"
              + " SCALABLE_RELIABLE_DATAGRAM do");
    }
    if (!queuePair.domain().isSameAs(handle.domain())) {
      throw new IllegalArgumentException("the " + handle + " belongs to another protection domain");
    }
    Range.check("queuePairNumber", queuePairNumber, 0, 0xff_ffff);
    handle.referent().check();
    queuePair.type().destination().write(request, handle.address(), queuePairNumber, queueKey);
    referTo(Referent.MISSING).set(index(request), handle.referent(), Referent.NONE);
    return this;
  }

  /**
   * Makes the request bind a memory window of type 2 to a part of a memory region, {@code
   * IBV_WR_BIND_MW}, and gives the window its next {@link MemoryWindow#remoteKey key}. Unlike other
   * requests, this one allocates objects.
   *
   * @param window a memory window of type 2 of the same protection domain
   * @param part the part of the region that peers can access through the window: at least 1 byte of
   *     a region of the same domain with MEMORY_WINDOW_BIND
   * @param access what peers may do: any of REMOTE_READ, REMOTE_WRITE and REMOTE_ATOMIC; the last
   *     two need a region with LOCAL_WRITE
   * @return this
   * @throws IllegalArgumentException if the window is of type 1 or belongs to another domain, the
   *     part is empty, or the region or the flags do not allow the bind
   * @throws IllegalStateException if there is no request, the type of the queue pair does not allow
   *     it, or something is closed
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
                          // Soft-RoCE refuses what an earlier request may have left here.
                          RawMemory.putInt(request + SendLayout.IMM_DATA, 0);
                          referTo(Referent.NONE)
                              .set(index(request), window.referent(), region.referent());
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
      made = new PendingBinds(this::isPosted);
      binds = made;
    }
    return made;
  }

  @Override
  protected void settle() {
    if (binds != null) {
      binds.settle();
    }
  }

  private long become(int opcode) {
    long request = allow(opcode);
    RawMemory.putInt(request + SendLayout.OPCODE, opcode);
    return request;
  }

  /**
   * Returns the current request, if it may have this opcode. The caller sets the opcode last, after
   * everything that can fail.
   */
  private long allow(int opcode) {
    long request = current();
    if ((opcodes >>> opcode & 1) == 0) {
      throw new IllegalStateException(
          queuePair
              + " is of type "
              + queuePair.type()
              + (queuePair.isInPlace() ? " and used in place" : "")
              + ", which does not allow work requests of opcode "
              + opcode);
    }
    return request;
  }

  private static void setRemote(long request, long address, int key) {
    RawMemory.putLong(request + SendLayout.RDMA_REMOTE_ADDR, address);
    RawMemory.putInt(request + SendLayout.RDMA_RKEY, key);
    RawMemory.putLong(request + SendLayout.REMOTE_BYTES, Long.MAX_VALUE);
  }

  /**
   * Called before the opcode is set: a request that is refused must not stay an atomic without an
   * address.
   */
  private static void checkAligned(long address) {
    if ((address & (Long.BYTES - 1)) != 0) {
      throw new IllegalArgumentException(
          "remoteAddress is 0x" + Long.toHexString(address) + ", must be divisible by 8");
    }
  }

  private static void setAtomic(long request, long address, int key, long compareOrAdd) {
    RawMemory.putLong(request + SendLayout.ATOMIC_REMOTE_ADDR, address);
    RawMemory.putInt(request + SendLayout.ATOMIC_RKEY, key);
    RawMemory.putLong(request + SendLayout.ATOMIC_COMPARE_ADD, compareOrAdd);
    RawMemory.putLong(request + SendLayout.REMOTE_BYTES, Long.MAX_VALUE);
  }

  /**
   * Makes the request create a completion also when it succeeds, {@code IBV_SEND_SIGNALED}. The
   * send queue reuses the entry of a request only after the completion of this or a later request
   * has been polled. So signal at least one of every {@code sendDepth} requests; otherwise the send
   * queue stays full.
   *
   * @return this
   * @throws IllegalStateException if there is no request
   */
  public SendRequests signaled() {
    return flag(SendLayout.SIGNALED);
  }

  /**
   * Marks the message as solicited, {@code IBV_SEND_SOLICITED}: its completion at the receiver
   * causes an event even if the receiver asked for events of solicited messages only, see {@link
   * CompletionQueue#requestNotification}.
   *
   * @return this
   * @throws IllegalStateException if there is no request
   */
  public SendRequests solicited() {
    return flag(SendLayout.SOLICITED);
  }

  /**
   * Makes the request wait until all earlier reads and atomics of this queue pair are complete,
   * {@code IBV_SEND_FENCE}.
   *
   * @return this
   * @throws IllegalStateException if there is no request
   */
  public SendRequests fenced() {
    return flag(SendLayout.FENCE);
  }

  /**
   * Makes the device compute the checksums of IP, TCP and UDP, {@code IBV_SEND_IP_CSUM}, if it
   * supports that.
   *
   * @return this
   * @throws IllegalStateException if there is no request
   */
  public SendRequests checksummed() {
    return flag(SendLayout.IP_CSUM);
  }

  /**
   * Adds a piece of memory (scatter/gather element) to the message. The pieces are sent in the
   * order in which they are added. The bytes must not change until the request has completed.
   *
   * @param region the memory region that contains the piece. It must belong to the queue pair's
   *     protection domain, otherwise the request completes with {@link
   *     CompletionStatus#LOCAL_PROTECTION_ERROR}, or on soft-RoCE with {@link
   *     CompletionStatus#LOCAL_QUEUE_PAIR_OPERATION_ERROR}
   * @param offset the offset of the piece in the region, in bytes
   * @param length the length of the piece in bytes, 0 to 4 GiB - 1
   * @return this
   * @throws IndexOutOfBoundsException if the piece does not lie within the region
   * @throws IllegalArgumentException if the request already has the maximum number of pieces of the
   *     queue pair
   * @throws IllegalStateException if there is no request, the request is inline, or the region is
   *     closed
   */
  public SendRequests from(MemoryRegion region, long offset, long length) {
    current();
    if ((flags() & SendLayout.INLINE) != 0) {
      throw mixed();
    }
    addPiece(region.addressOf(offset, length), length, region.key());
    return this;
  }

  /**
   * Adds a piece of memory to the message, as {@link #from(MemoryRegion, long, long)} does.
   *
   * @param slice the piece to send
   * @return this
   * @throws IllegalArgumentException if the request already has the maximum number of pieces of the
   *     queue pair
   * @throws IllegalStateException if there is no request, the request is inline, or the region is
   *     closed
   */
  public SendRequests from(MemorySlice slice) {
    return from(slice.region(), slice.offset(), slice.length());
  }

  /**
   * Adds native memory that is not registered to the message. The device reads it when it processes
   * the request, through a region that covers all memory. It must stay allocated and unchanged
   * until the request completes: otherwise the request fails, or sends what is there by then.
   *
   * @param region a region of the queue pair's protection domain
   * @param source the memory to send, 0 to 4 GiB - 1 bytes
   * @return this
   * @throws IllegalArgumentException if the memory is on the Java heap or too long, the queue pair
   *     sends raw packets, of which some providers read the first bytes themselves, or the request
   *     already has the maximum number of pieces of the queue pair
   * @throws IllegalStateException if there is no request, the request is inline, or the region or
   *     the arena of the memory is closed
   * @throws WrongThreadException if the memory belongs to a confined arena of another thread
   */
  public SendRequests from(ImplicitRegion region, MemorySegment source) {
    current();
    if ((flags() & SendLayout.INLINE) != 0) {
      throw mixed();
    }
    if (!source.isNative()) {
      throw new IllegalArgumentException(
          "source is " + source + ", must be native memory; call inline for memory of the heap");
    }
    if (queuePair.type() == QueuePairType.RAW_PACKET) {
      throw new IllegalArgumentException(
          "the queue pair sends raw packets, of which some providers read the first bytes"
              + " themselves; send from a registered region");
    }
    checkAccessible(source);
    addPiece(source.address(), source.byteSize(), region.key());
    return this;
  }

  /** Throws if the current thread cannot access the memory. */
  private static void checkAccessible(MemorySegment source) {
    if (!source.scope().isAlive()) {
      throw new IllegalStateException("the arena of the source is closed");
    }
    if (!source.isAccessibleBy(Thread.currentThread())) {
      throw new WrongThreadException("the source belongs to a confined arena of another thread");
    }
  }

  /**
   * Adds a piece of memory that a read, or the old value of an atomic, is written to. It does the
   * same as {@link #from(MemoryRegion, long, long)}; only the name differs, to show the direction.
   *
   * @param region the memory region that contains the piece; it must belong to the queue pair's
   *     protection domain and have LOCAL_WRITE
   * @param offset the offset of the piece in the region, in bytes
   * @param length the length of the piece in bytes, 0 to 4 GiB - 1; 8 for an atomic
   * @return this
   * @throws IndexOutOfBoundsException if the piece does not lie within the region
   * @throws IllegalArgumentException if the request already has the maximum number of pieces of the
   *     queue pair
   * @throws IllegalStateException if there is no request, the request is inline, or the region is
   *     closed
   */
  public SendRequests into(MemoryRegion region, long offset, long length) {
    return from(region, offset, length);
  }

  /**
   * Copies bytes into the request itself, {@code IBV_SEND_INLINE}. They may come from any memory,
   * registered or not, and may change as soon as this method returns. Further calls append more
   * bytes.
   *
   * @param source the memory that contains the bytes, on or off the heap
   * @param offset the offset of the first byte in that memory
   * @param length the number of bytes; all calls for one request together can add {@link
   *     QueuePairCapabilities#inlineBytes}
   * @return this
   * @throws IndexOutOfBoundsException if the bytes do not lie within the source
   * @throws IllegalArgumentException if the request would have more inline bytes than the queue
   *     pair allows
   * @throws IllegalStateException if there is no request, the request has pieces of a region or is
   *     segmented, or the arena of the source is closed
   */
  public SendRequests inline(MemorySegment source, long offset, long length) {
    long request = current();
    if ((flags() & SendLayout.INLINE) == 0 && hasPieces()) {
      throw mixed();
    }
    if (maxHeader != 0 && RawMemory.getInt(request + SendLayout.OPCODE) == SendLayout.TSO) {
      throw inlineSegments();
    }
    int before = inlineLength(request);
    if (length < 0 || length > maxInline - before) {
      throw tooLong(before, length);
    }
    putInline(request, before, source, offset, (int) length);
    if (length != 0) {
      flag(SendLayout.INLINE);
    }
    return this;
  }

  /**
   * Sends bytes of a memory region inline, {@code IBV_SEND_INLINE}: the provider copies them into
   * the request when it is posted. They may change as soon as {@link #post} returns. This is faster
   * than {@link #inline(MemorySegment, long, long)}, which copies them twice. A request has either
   * bytes of one region or bytes of memory segments.
   *
   * @param region the memory region that contains the bytes; it need not belong to the queue pair's
   *     protection domain
   * @param offset the offset of the first byte in the region
   * @param length the number of bytes, at most {@link QueuePairCapabilities#inlineBytes}
   * @return this
   * @throws IndexOutOfBoundsException if the bytes do not lie within the region
   * @throws IllegalArgumentException if there are more bytes than the queue pair allows
   * @throws UnsupportedOperationException if this process cannot access the memory of the region
   * @throws IllegalStateException if there is no request, the request has other bytes or pieces or
   *     is segmented, or the region is closed
   */
  public SendRequests inline(MemoryRegion region, long offset, long length) {
    long request = current();
    if (hasPieces()) {
      throw mixed();
    }
    if (maxHeader != 0 && RawMemory.getInt(request + SendLayout.OPCODE) == SendLayout.TSO) {
      throw inlineSegments();
    }
    if (length > maxInline) {
      throw tooLong(0, length);
    }
    if (region != inlineRegion) {
      inlineRegions().add(region);
      inlineRegion = region;
    }
    addPiece(region.memoryAddressOf(offset, length), length, region.key());
    return length == 0 ? this : flag(SendLayout.INLINE);
  }

  /**
   * Posts the requests in one call, {@code ibv_post_send}, and empties the batch. Returns without a
   * call if there are none.
   *
   * @return the number of requests that were posted
   * @throws PostException if the provider refuses a request: ENOMEM if the send queue is full
   * @throws IllegalStateException if the queue pair is not ready to send or closed, a datagram has
   *     no destination or its address handle is closed, or the queue pair is of type
   *     SCALABLE_RELIABLE_DATAGRAM and a request has what this type lacks: bytes beyond the limit,
   *     several pieces of a read or write, no completion, or another flag; the requests are kept
   */
  public int post() {
    return postAll();
  }

  /**
   * Takes the requests out of this batch, so that they can be posted any number of times.
   *
   * @return the requests, which were not posted yet
   * @throws IllegalStateException if there are no requests; one of them binds a memory window,
   *     which would need a new key each time; a datagram has no destination; something that they
   *     use is closed; or the queue pair belongs to a thread domain, where only one object may post
   *     sends
   */
  public PreparedSends prepare() {
    own();
    checkPreparable();
    Set<Referent> used = new HashSet<>();
    RequestCopies copies = copyAll();
    for (int i = 0; i < copies.size(); i++) {
      referentsOf(i).forEach(Referent::check);
      used.addAll(referentsOf(i));
      describe(copies.at(i), used);
    }
    // It is never closed, and all programs share it.
    used.remove(Referent.NONE);
    PreparedSends prepared =
        queuePair
            .lifetime()
            .whileOpen(
                () ->
                    new PreparedSends(
                        target("PreparedSends", queuePair, posts), queuePair, copies, used));
    drop();
    return prepared;
  }

  private void checkPreparable() {
    if (count() == 0) {
      throw new IllegalStateException("the batch has no request to prepare; call add(id) first");
    }
    if (binds != null && !binds.isEmpty()) {
      throw new IllegalStateException(
          "a request binds a memory window, which needs a new key each time; call post");
    }
  }

  /** Adapts the copy of a request to its place, and notes what can change about it. */
  private void describe(long entry, Set<Referent> used) {
    long copy = entry + RequestCopies.ROW;
    int opcode = RawMemory.getInt(copy + SendLayout.OPCODE);
    boolean isInline = (RawMemory.getInt(copy + SendLayout.SEND_FLAGS) & SendLayout.INLINE) != 0;
    long bytes =
        PreparedRequests.describePieces(
            entry,
            SendLayout.SIZE,
            (key, address, length) -> {
              if (isInline && contains(address)) {
                return null;
              }
              MemoryRegion region =
                  queuePair.domain().regions().find(key, address, length, isInline);
              used.add(region.referent());
              return region.place(isInline);
            });
    if (isInline) {
      moveWith(copy, copy + SendLayout.SIZE + RequestLayout.SGE_ADDR);
    }
    if (opcode == SendLayout.TSO) {
      moveWith(copy, copy + SendLayout.TSO_HEADER);
    }
    PreparedSends.describeRemote(entry, bytes);
  }

  /** Adapts an address in a request, if it points to the bytes that follow the request. */
  private void moveWith(long copy, long field) {
    long address = RawMemory.getLong(field);
    if (contains(address)) {
      RawMemory.putLong(field, copy + offsetInRequest(address));
    }
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
    if (binds != null) {
      binds.drop();
    }
  }

  /**
   * Ends the ownership of this batch by the current thread. The next thread that calls {@link
   * #add}, {@link #post} or {@link #clear} becomes its owner.
   */
  public void release() {
    releaseOwnership();
  }

  private SendRequests flag(int flag) {
    long request = current();
    RawMemory.putInt(request + SendLayout.SEND_FLAGS, addFlag(flag));
    return this;
  }

  private static IllegalStateException mixed() {
    return new IllegalStateException(
        "the request cannot have both inline bytes and pieces of memory regions;"
            + " use inline or from");
  }

  private static IllegalStateException inlineSegments() {
    return new IllegalStateException("a segmented request cannot have inline bytes; use from");
  }

  private IllegalArgumentException tooLong(int before, long length) {
    return new IllegalArgumentException(
        ("%d inline bytes after %d, but a request of this queue pair can have at most %d; create"
                + " it with more inlineBytes, or send from a region")
            .formatted(length, before, maxInline));
  }
}
