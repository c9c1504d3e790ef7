package org.rdma4j.datapath;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_recv_wr;
import org.rdma4j.bindings.generated.ibv_sge;

/**
 * Work requests in native memory, linked into the chain that one call posts. What {@code struct
 * ibv_send_wr} and {@code struct ibv_recv_wr} have in common are their first four fields.
 *
 * <p>Whatever this memory holds at any moment, a provider may read: links lead to requests of this
 * chain or end, and counts stay within their arrays. So the thread that builds it must be the one
 * that posts it, which {@link HotCall} sees to.
 */
public final class RequestChain extends HotCall {
  /** The index of a refused request if the provider did not tell which one it refused. */
  public static final int UNKNOWN = -1;

  private static final long WR_ID = ibv_recv_wr.wr_id$offset();
  private static final long NEXT = ibv_recv_wr.next$offset();
  private static final long SG_LIST = ibv_recv_wr.sg_list$offset();
  private static final long NUM_SGE = ibv_recv_wr.num_sge$offset();
  private static final int SGE_SIZE = (int) ibv_sge.layout().byteSize();
  private static final long SGE_ADDR = ibv_sge.addr$offset();
  private static final long SGE_LENGTH = ibv_sge.length$offset();
  private static final long SGE_LKEY = ibv_sge.lkey$offset();
  private static final long LONGEST = 0xffff_ffffL;
  private static final long CACHE_LINE = 64;

  private final String function;
  private final long badRequest;
  private final long requests;
  private final long end;
  private final int requestSize;
  private final int inlineOffset;
  private final int stride;
  private final int strideShift;
  private final int maxPieces;

  /** The bytes of inline requests, each after its request, and all requests with their lists. */
  private final MemorySegment memory;

  /*
   * Addresses rather than indices, which a multiplication would stand before. Requests before the first
   * were posted by a call that failed at it. Where there is no current one it is the end, which is what
   * each that is added is compared with anyway.
   */
  private long first;
  private long request;
  private long next;

  /** How many pieces the current request has. */
  private int pieces;

  /** The request where the chain ends. Each other one is linked to the next, as long as this is. */
  private long last;

  private final Refusals refusals;
  private final @Nullable ExtendedQueuePair extended;

  /** Null until a request points to something. */
  private @Nullable Referents referents;

  /** Makes the exception for a request that the provider refuses. */
  @FunctionalInterface
  public interface Refusals {
    /**
     * Makes the exception.
     *
     * @param function the C function that posts
     * @param errno what it returned
     * @param index the index of the refused request in the chain, or {@link #UNKNOWN}
     */
    RuntimeException refusal(String function, int errno, int index);
  }

  /**
   * A chain without requests.
   *
   * @param target what posts it
   * @param function the C function that does, for messages
   * @param requestSize of the struct, in bytes
   * @param max how many requests there is room for
   * @param maxPieces of a request
   * @param inlineBytes the room of a request for bytes of its own
   * @param refusals makes the exception for a request that the provider refuses
   * @param extended what posts it where the target has no function for it
   */
  public RequestChain(
      Target target,
      String function,
      int requestSize,
      int max,
      int maxPieces,
      int inlineBytes,
      Refusals refusals,
      @Nullable ExtendedQueuePair extended) {
    super(target);
    this.refusals = refusals;
    this.extended = extended;
    this.function = function;
    this.requestSize = requestSize;
    this.maxPieces = maxPieces;
    this.inlineOffset = requestSize + Math.max(1, maxPieces) * SGE_SIZE;
    this.strideShift = Long.SIZE - Long.numberOfLeadingZeros(inlineOffset + inlineBytes - 1);
    this.stride = 1 << strideShift;
    this.memory = Arena.ofAuto().allocate((long) max * stride + Long.BYTES, CACHE_LINE);
    this.requests = memory.address();
    this.end = requests + (long) max * stride;
    this.badRequest = end;
    this.last = end - stride;
    for (long each = requests; each != end; each += stride) {
      RawMemory.putLong(each + SG_LIST, each + requestSize);
      RawMemory.putLong(each + NEXT, each == last ? 0 : each + stride);
    }
    empty();
  }

  /** Begins the next request, and returns its address. */
  public long add(long id) {
    own();
    long added = RawMemory.base(next);
    if (added == end) {
      throw full();
    }
    RawMemory.putLong(added + WR_ID, id);
    RawMemory.putInt(added + NUM_SGE, 0);
    pieces = 0;
    request = added;
    next = added + stride;
    return added;
  }

  /** The address of the request that is being built. */
  public long current() {
    check();
    long current = RawMemory.base(request);
    if (current == end) {
      throw new IllegalStateException("there is no request to describe: add(id) begins one");
    }
    return current;
  }

  /** Adds a piece of a region to the current request; one of length 0 adds nothing. */
  public void addPiece(long address, long length, int key) {
    long current = current();
    if (pieces >= maxPieces) {
      throw tooManyPieces();
    }
    // To some devices a length of 0 in an entry means 2 GiB.
    if (length == 0) {
      return;
    }
    if (length > LONGEST) {
      throw new IllegalArgumentException(
          "length is " + length + ", must be at most " + LONGEST + " bytes");
    }
    putPiece(current, address, (int) length, key);
  }

  /** Has requests point to what each post is to check; at first to what is given here. */
  public Referents refer(Referent initial) {
    Referents made = referents;
    if (made == null) {
      made = new Referents(index(end), initial);
      referents = made;
      refer();
    }
    return made;
  }

  @Override
  protected void checkReferents() {
    if (referents != null) {
      referents.check(index(first), index(next));
    }
  }

  @Override
  protected int postExtended(long requests) {
    int errno = extended == null ? super.postExtended(requests) : extended.post(requests);
    if (errno != 0) {
      RawMemory.putLong(badRequest, requests);
    }
    return errno;
  }

  /** Whether a request that was added has been posted since. */
  public boolean isPosted(long added) {
    return added < first || added >= next;
  }

  /** The index of a request within the room. */
  public int index(long request) {
    return (int) ((request - requests) >> strideShift);
  }

  /** Whether the current request has a piece, of whatever memory. */
  public boolean hasPieces() {
    return pieces != 0;
  }

  /** How many inline bytes the current request has, which is an inline one. */
  public int inlineLength(long request) {
    return pieces == 0 ? 0 : RawMemory.getInt(request + requestSize + SGE_LENGTH);
  }

  /** Appends inline bytes to the current request, which has so many already. */
  public void putInline(long request, int before, MemorySegment source, long offset, int length) {
    keep(request, before, source, offset, length);
    if (length != 0) {
      pieces = 0;
      putPiece(request, request + inlineOffset, before + length, 0);
    }
  }

  /** Copies bytes to a place of the request's own room, and returns their address. */
  public long keep(long request, int at, MemorySegment source, long offset, int length) {
    long address = request + inlineOffset + at;
    MemorySegment.copy(source, offset, memory, address - memory.address(), length);
    return address;
  }

  /** Adds an entry to the list of the current request. */
  private void putPiece(long request, long address, int length, int key) {
    long sge = request + Integer.toUnsignedLong(requestSize + pieces * SGE_SIZE);
    pieces++;
    RawMemory.putLong(sge + SGE_ADDR, address);
    RawMemory.putInt(sge + SGE_LENGTH, length);
    RawMemory.putInt(sge + SGE_LKEY, key);
    RawMemory.putInt(request + NUM_SGE, pieces);
  }

  /** Gives up the ownership, so that the next thread that uses the chain owns it. */
  public void release() {
    releaseOwnership();
  }

  /** Returns how many requests wait to be posted. */
  public int size() {
    return index(next) - index(first);
  }

  public void clear() {
    own();
    empty();
  }

  /** Posts what was added; returns how many that were. */
  public int post() {
    if (request == end) {
      own();
      return 0;
    }
    if (request != last) {
      cut();
    }
    int errno = post(first, badRequest);
    if (errno != 0) {
      throw refused(errno);
    }
    int posted = size();
    empty();
    return posted;
  }

  /** Has the chain end at the current request. */
  private void cut() {
    own();
    if (last + stride != end) {
      RawMemory.putLong(last + NEXT, last + stride);
    }
    RawMemory.putLong(request + NEXT, 0);
    last = request;
  }

  private void empty() {
    first = requests;
    next = requests;
    request = end;
  }

  private RuntimeException refused(int errno) {
    long bad = RawMemory.getLong(badRequest);
    RawMemory.putLong(badRequest, 0);
    if (bad == 0) {
      empty();
      return refusals.refusal(function, errno, UNKNOWN);
    }
    int index = index(bad) - index(first);
    first = bad;
    return refusals.refusal(function, errno, index);
  }

  private IllegalStateException full() {
    return new IllegalStateException(
        "all " + index(end) + " requests of the room are in use: post() them, or make more room");
  }

  private IllegalArgumentException tooManyPieces() {
    return new IllegalArgumentException(
        "a request of this queue has at most "
            + maxPieces
            + " pieces: create it with more sendSges or receiveSges");
  }
}
