package org.rdma4j.datapath;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.rdma4j.bindings.generated.ibv_recv_wr;
import org.rdma4j.bindings.generated.ibv_sge;

/**
 * A batch of work requests in native memory, linked into a chain that one call posts. {@code struct
 * ibv_send_wr} and {@code struct ibv_recv_wr} have their first four fields in common, which this
 * class handles.
 *
 * <p>The memory is safe for a provider to read at any moment: links lead to requests of this chain
 * or end it, and counts stay within their arrays. This requires that the thread that builds a chain
 * is the one that posts it, which {@link HotCall} ensures.
 */
public final class RequestChain extends HotCall {
  /** The index of a refused request if the provider did not say which one it refused. */
  public static final int UNKNOWN = -1;

  private static final long WR_ID = ibv_recv_wr.wr_id$offset();
  private static final long NEXT = ibv_recv_wr.next$offset();
  private static final long SG_LIST = ibv_recv_wr.sg_list$offset();
  private static final long NUM_SGE = ibv_recv_wr.num_sge$offset();
  private static final int SGE_SIZE = (int) ibv_sge.layout().byteSize();
  private static final long SGE_ADDR = ibv_sge.addr$offset();
  private static final long SGE_LENGTH = ibv_sge.length$offset();
  private static final long SGE_LKEY = ibv_sge.lkey$offset();
  private static final long MAX_LENGTH = 0xffff_ffffL;
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

  /** All requests, each followed by its list of pieces and its inline bytes. */
  private final MemorySegment memory;

  /*
   * Addresses and not indices, which would have to be multiplied. Requests before the first one
   * were posted by a call that failed at the first one. If there is no current request, its address
   * is the end, with which every new request is compared anyway.
   */
  private long first;
  private long request;
  private long next;

  /** The number of pieces of the current request. */
  private int pieces;

  /**
   * The request that ends the chain. Every other request is linked to the next one, also between
   * posts.
   */
  private long last;

  private final Refusals refusals;
  private final @Nullable ExtendedQueuePair extended;

  /** The objects that requests point to; null until there is one. */
  private @Nullable Referents referents;

  /** Creates the exception for a request that the provider refuses. */
  @FunctionalInterface
  public interface Refusals {
    /**
     * Creates the exception.
     *
     * @param function the C function that posts
     * @param errno the errno value that the function returned
     * @param index the index of the refused request in the chain, or {@link #UNKNOWN}
     */
    RuntimeException refusal(String function, int errno, int index);
  }

  /**
   * Creates a chain without requests.
   *
   * @param target the function that posts the chain
   * @param function the name of this function, for messages
   * @param requestSize the size of the struct of a request, in bytes
   * @param max the maximum number of requests
   * @param maxPieces the maximum number of pieces of a request
   * @param inlineBytes the number of bytes that are allocated for inline data of each request
   * @param refusals creates the exception for a request that the provider refuses
   * @param extended posts the chain if the target has no function for it; null if the target has
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

  /** Begins the next request and returns its address. */
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

  /** Returns the address of the current request, the one that was added last. */
  public long current() {
    check();
    long current = RawMemory.base(request);
    if (current == end) {
      throw new IllegalStateException("the batch has no request to change; call add(id) first");
    }
    return current;
  }

  /** Adds a piece of a memory region to the current request. A piece of length 0 is left out. */
  public void addPiece(long address, long length, int key) {
    long current = current();
    if (pieces >= maxPieces) {
      throw tooManyPieces();
    }
    // Some devices read a length of 0 as 2 GiB.
    if (length == 0) {
      return;
    }
    if (length > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "length is " + length + ", must be at most " + MAX_LENGTH + " bytes");
    }
    putPiece(current, address, (int) length, key);
  }

  /** Makes requests point to objects that each post checks, the given one at first. */
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

  /** Returns whether a request that was added has been posted since. */
  public boolean isPosted(long added) {
    return added < first || added >= next;
  }

  /** Returns the index of a request in the memory of the chain. */
  public int index(long request) {
    return (int) ((request - requests) >> strideShift);
  }

  /** Returns whether the current request has a piece, of a memory region or inline. */
  public boolean hasPieces() {
    return pieces != 0;
  }

  /**
   * Returns the number of inline bytes of the current request, which must not have other pieces.
   */
  public int inlineLength(long request) {
    return pieces == 0 ? 0 : RawMemory.getInt(request + requestSize + SGE_LENGTH);
  }

  /** Appends inline bytes to the current request, which has {@code before} of them already. */
  public void putInline(long request, int before, MemorySegment source, long offset, int length) {
    keep(request, before, source, offset, length);
    if (length != 0) {
      pieces = 0;
      putPiece(request, request + inlineOffset, before + length, 0);
    }
  }

  /** Copies bytes to the memory for inline data of a request, and returns their address. */
  public long keep(long request, int at, MemorySegment source, long offset, int length) {
    long address = request + inlineOffset + at;
    MemorySegment.copy(source, offset, memory, address - memory.address(), length);
    return address;
  }

  /** Adds a piece to the list of the current request. */
  private void putPiece(long request, long address, int length, int key) {
    long sge = request + Integer.toUnsignedLong(requestSize + pieces * SGE_SIZE);
    pieces++;
    RawMemory.putLong(sge + SGE_ADDR, address);
    RawMemory.putInt(sge + SGE_LENGTH, length);
    RawMemory.putInt(sge + SGE_LKEY, key);
    RawMemory.putInt(request + NUM_SGE, pieces);
  }

  /** Gives up the ownership; the next thread that uses the chain becomes its owner. */
  public void release() {
    releaseOwnership();
  }

  /** Returns the number of requests that will be posted. */
  public int size() {
    return index(next) - index(first);
  }

  public void clear() {
    own();
    empty();
  }

  /** Posts the requests, and returns their number. */
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

  /** Makes the chain end at the current request, and links the request where it ended before. */
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
        "all "
            + index(end)
            + " requests of the batch are in use; call post(), or create a larger batch");
  }

  private IllegalArgumentException tooManyPieces() {
    return new IllegalArgumentException(
        "a request of this queue has at most "
            + maxPieces
            + " pieces; create the queue with more sendSges or receiveSges");
  }
}
