package org.rdma4j.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.bindings.generated.ibv_recv_wr;
import org.rdma4j.bindings.generated.ibv_sge;
import org.rdma4j.bindings.inlines.DataPath;

/**
 * Work requests in native memory, linked into the chain that one call posts. What {@code struct
 * ibv_send_wr} and {@code struct ibv_recv_wr} have in common are their first four fields.
 *
 * <p>Whatever this memory holds at any moment, a provider may read: links lead to requests of this
 * chain or end, and counts stay within their arrays. So the thread that builds it must be the one
 * that posts it, which {@link HotCall} sees to.
 */
final class RequestChain {
  private static final long WR_ID = ibv_recv_wr.wr_id$offset();
  private static final long NEXT = ibv_recv_wr.next$offset();
  private static final long SG_LIST = ibv_recv_wr.sg_list$offset();
  private static final long NUM_SGE = ibv_recv_wr.num_sge$offset();
  private static final long SGE_SIZE = ibv_sge.layout().byteSize();
  private static final long SGE_ADDR = ibv_sge.addr$offset();
  private static final long SGE_LENGTH = ibv_sge.length$offset();
  private static final long SGE_LKEY = ibv_sge.lkey$offset();
  private static final long LONGEST = 0xffff_ffffL;

  /** More pieces than any request can have: there is no request to add one to. */
  private static final int NO_REQUEST = Integer.MAX_VALUE;

  private final String function;
  private final HotCall call;
  private final long op;
  private final long queuePair;
  private final boolean critical;
  private final long badRequest;
  private final long requests;
  private final long requestSize;
  private final long end;
  private final long lists;
  private final long listSize;
  private final int most;
  private final int mostPieces;

  /** Keeps the native memory for as long as this lives. */
  private final MemorySegment memory;

  /*
   * Addresses rather than indices, which a multiplication would stand before. Requests before the first
   * were posted by a call that failed at it.
   */
  private long first;
  private long next;
  private long nextList;
  private long request;
  private long list;
  private int index;
  private int count;
  private int pieces = NO_REQUEST;

  RequestChain(
      String function,
      HotCall call,
      long op,
      QueuePair queuePair,
      long requestSize,
      int most,
      int mostPieces) {
    this.function = function;
    this.call = call;
    this.op = op;
    this.queuePair = queuePair.pointer().address();
    this.critical = queuePair.domain().device().callStyle() == CallStyle.CRITICAL;
    this.requestSize = requestSize;
    this.most = most;
    this.mostPieces = mostPieces;
    this.listSize = Math.max(1, mostPieces) * SGE_SIZE;
    this.memory = Arena.ofAuto().allocate(Long.BYTES + most * (requestSize + listSize), 64);
    this.requests = memory.address();
    this.end = requests + most * requestSize;
    this.lists = end;
    this.badRequest = lists + most * listSize;
    for (int i = 0; i < most; i++) {
      RawMemory.putLong(requests + i * requestSize + SG_LIST, lists + i * listSize);
    }
    empty();
  }

  /** Begins the next request, and returns its address. */
  long add(long id) {
    call.check();
    long added = next;
    if (added == end) {
      throw full();
    }
    if (added != first) {
      RawMemory.putLong(request + NEXT, added);
    }
    RawMemory.putLong(added + WR_ID, id);
    RawMemory.putLong(added + NEXT, 0);
    RawMemory.putInt(added + NUM_SGE, 0);
    request = added;
    next = added + requestSize;
    list = nextList;
    nextList += listSize;
    pieces = 0;
    index++;
    count++;
    return added;
  }

  /** The address of the request that is being built. */
  long current() {
    call.check();
    if (pieces == NO_REQUEST) {
      throw none();
    }
    return request;
  }

  /** The index of the request that is being built, within the room. */
  int index() {
    return index;
  }

  int pieces() {
    return pieces;
  }

  /** Adds a piece of a region to the current request; one of length 0 adds nothing. */
  void addPiece(MemoryRegion region, long offset, long length) {
    call.check();
    int piece = pieces;
    if (piece >= mostPieces) {
      throw tooManyPieces();
    }
    long address = region.addressOf(offset, length);
    // To some devices a length of 0 in an entry means 2 GiB.
    if (length == 0) {
      return;
    }
    if (length > LONGEST) {
      throw new IllegalArgumentException(
          "length is " + length + ", must be at most " + LONGEST + " bytes");
    }
    putPiece(piece, address, (int) length, region.key());
  }

  /** Writes an entry of the current request's list, and makes it the last. */
  void putPiece(int piece, long address, int length, int key) {
    long sge = list + piece * SGE_SIZE;
    RawMemory.putLong(sge + SGE_ADDR, address);
    RawMemory.putInt(sge + SGE_LENGTH, length);
    RawMemory.putInt(sge + SGE_LKEY, key);
    RawMemory.putInt(request + NUM_SGE, piece + 1);
    pieces = piece + 1;
  }

  int size() {
    return count;
  }

  void clear() {
    call.check();
    empty();
  }

  /** Posts what was added; returns how many that were. */
  int post() {
    int posting = count;
    int entered = call.enter();
    int errno;
    try {
      errno = posting == 0 ? 0 : DataPath.ibv_post(critical, op, queuePair, first, badRequest);
    } finally {
      call.leave(entered);
    }
    if (errno != 0) {
      throw refused(errno);
    }
    empty();
    return posting;
  }

  void release() {
    call.release();
  }

  private void empty() {
    first = requests;
    next = requests;
    nextList = lists;
    index = -1;
    count = 0;
    pieces = NO_REQUEST;
  }

  private PostException refused(int errno) {
    long bad = RawMemory.getLong(badRequest);
    RawMemory.putLong(badRequest, 0);
    if (bad == 0) {
      empty();
      return new PostException(function, errno, PostException.UNKNOWN);
    }
    int index = (int) ((bad - first) / requestSize);
    first = bad;
    count -= index;
    return new PostException(function, errno, index);
  }

  private IllegalStateException full() {
    return new IllegalStateException(
        "all " + most + " requests of the room are in use: post() them, or make more room");
  }

  private static IllegalStateException none() {
    return new IllegalStateException("there is no request to describe: add(id) begins one");
  }

  private RuntimeException tooManyPieces() {
    return pieces == NO_REQUEST
        ? none()
        : new IllegalArgumentException(
            "a request of this queue pair has at most "
                + mostPieces
                + " pieces: create it with more sendSges or receiveSges");
  }
}
