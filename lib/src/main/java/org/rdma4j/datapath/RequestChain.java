package org.rdma4j.datapath;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A batch of work requests in native memory, linked into a chain that one call posts. {@code struct
 * ibv_send_wr} and {@code struct ibv_recv_wr} have their first four fields in common, which this
 * class handles.
 *
 * <p>The memory is safe for a provider to read at any moment: links lead to requests of this chain
 * or end it, and counts stay within their arrays. This requires that the thread that builds a chain
 * also posts it, which {@link HotCall} ensures.
 *
 * <p>In the usual case, requests point to nothing that must be checked, and the same number of them
 * is posted each time. Then a request takes one comparison of {@link #limit}, and a post one of
 * {@link #complete}: everything that is unusual changes one of these fields.
 *
 * <p>This is a superclass and not a field, for the same reason as {@link HotCall}.
 */
public abstract class RequestChain extends HotCall {
  /** The index of a refused request if the provider did not say which one it refused. */
  public static final int UNKNOWN = -1;

  private static final long MAX_LENGTH = 0xffff_ffffL;
  private static final long CACHE_LINE = 64;

  /** The state if there is no current request. */
  private static final int NONE = -1;

  /** The state has the flags of the current request in its low bits, and its pieces above. */
  private static final int PIECES = 16;

  /** In the state: the request can have no piece. */
  private static final int NO_PIECES = 1 << (PIECES - 1);

  /** In the state: the pieces must not be longer than {@link #maxBytes} together. */
  private static final int LIMITED = NO_PIECES >> 1;

  private static final int FLAGS = LIMITED - 1;

  private final long requests;
  private final long end;
  private final long stride;
  private final int strideShift;
  private final int requestSize;
  private final int inlineOffset;
  private final int maxPieces;

  /** All requests, each followed by its list of pieces and its inline bytes. */
  private final MemorySegment memory;

  /*
   * Addresses and not indices, which would have to be multiplied. Requests before the first one
   * were posted by a call that failed at the first one.
   */
  private long first;
  private long next;

  /** A request from here on is unusual: the end of the memory, or 0 if every one is. */
  private long limit;

  /** The {@link #next} of a chain that needs nothing else before it is posted; 0 for none. */
  private long complete;

  /** The request that ends the chain. Every other one is linked to the next, also between posts. */
  private long last;

  private int state;

  /** What the pieces of the current request may have together, if the state says LIMITED. */
  private long maxBytes;

  /** The objects that requests point to; null until there is one. */
  private @Nullable Referents referents;

  /**
   * How much memory a chain has.
   *
   * @param requestSize the size of the struct of a request, in bytes
   * @param max the maximum number of requests
   * @param maxPieces the maximum number of pieces of a request
   * @param inlineBytes the number of bytes that are allocated for inline data of each request
   */
  public record Size(int requestSize, int max, int maxPieces, int inlineBytes) {}

  /**
   * Creates a chain without requests.
   *
   * @param target the function that posts the chain
   * @param size how much memory the chain has
   */
  protected RequestChain(Target target, Size size) {
    super(target);
    this.requestSize = size.requestSize;
    this.maxPieces = size.maxPieces;
    this.inlineOffset = requestSize + Math.max(1, maxPieces) * RequestLayout.SGE_SIZE;
    this.strideShift = Long.SIZE - Long.numberOfLeadingZeros(inlineOffset + size.inlineBytes - 1);
    this.stride = 1L << strideShift;
    this.memory = Arena.ofAuto().allocate(size.max * stride + Long.BYTES, CACHE_LINE);
    this.requests = memory.address();
    this.end = requests + size.max * stride;
    this.last = end - stride;
    this.limit = maxPieces == 0 ? 0 : end;
    this.first = requests;
    for (long each = requests; each != end; each += stride) {
      RawMemory.putLong(each + RequestLayout.SG_LIST, each + requestSize);
      RawMemory.putLong(each + RequestLayout.NEXT, each == last ? 0 : each + stride);
    }
    empty();
  }

  /**
   * Creates the exception for a request that the provider refused.
   *
   * @param errno the errno value that the function returned
   * @param index the index of the refused request in the chain, or {@link #UNKNOWN}
   */
  protected abstract RuntimeException refusal(int errno, int index);

  /** Begins the next request and returns its address. */
  protected final long begin(long id) {
    own();
    long added = RawMemory.base(next);
    int begun = added < limit ? 0 : beginUnusual(added);
    RawMemory.putLong(added + RequestLayout.WR_ID, id);
    RawMemory.putInt(added + RequestLayout.NUM_SGE, 0);
    state = begun;
    next = added + stride;
    return added;
  }

  private int beginUnusual(long added) {
    if (added == end) {
      throw new IllegalStateException(
          "all "
              + index(end)
              + " requests of the batch are in use; call post(), or create a larger batch");
    }
    if (referents != null) {
      referents.reset(index(added));
    }
    return maxPieces == 0 ? NO_PIECES : 0;
  }

  /** Returns the address of the current request, which was added last. */
  protected final long current() {
    check();
    if (state == NONE) {
      throw new IllegalStateException("the batch has no request to change; call add(id) first");
    }
    return RawMemory.base(next - stride);
  }

  /** Returns the flags of the current request. */
  protected final int flags() {
    return state & FLAGS;
  }

  /** Adds a flag to those of the current request, and returns all. */
  protected final int addFlag(int flag) {
    state |= flag;
    return flags();
  }

  /** Returns whether the current request has a piece, of a memory region or inline. */
  protected final boolean hasPieces() {
    return state >> PIECES > 0;
  }

  /** Adds a piece of a memory region to the current request. A piece of length 0 is left out. */
  protected final void addPiece(long address, long length, int key) {
    long current = current();
    if (state >= LIMITED) {
      checkAnotherPiece(length);
    }
    // Some devices read a length of 0 as 2 GiB.
    if (length == 0) {
      return;
    }
    if (length > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "length is " + length + ", must be at most " + MAX_LENGTH + " bytes");
    }
    putPiece(current, state >> PIECES, address, (int) length, key);
  }

  /** Limits what the pieces of the current request have together, those before this call too. */
  protected final void limitPieces(long bytes) {
    long current = current();
    maxBytes = bytes;
    checkTotal(totalBytes(current));
    state |= LIMITED;
  }

  /**
   * Returns the number of inline bytes of the current request, which must not have other pieces.
   */
  protected final int inlineLength(long request) {
    return hasPieces() ? RawMemory.getInt(request + requestSize + RequestLayout.SGE_LENGTH) : 0;
  }

  /** Appends inline bytes to the current request, which has {@code before} of them already. */
  protected final void putInline(
      long request, int before, MemorySegment source, long offset, int length) {
    if ((state & LIMITED) != 0) {
      checkTotal(before + length);
    }
    keep(request, before, source, offset, length);
    if (length != 0) {
      state &= FLAGS | LIMITED;
      putPiece(request, 0, request + inlineOffset, before + length, 0);
    }
  }

  /** Copies bytes to the memory for inline data of a request, and returns their address. */
  protected final long keep(long request, int at, MemorySegment source, long offset, int length) {
    long address = request + inlineOffset + at;
    MemorySegment.copy(source, offset, memory, address - memory.address(), length);
    return address;
  }

  private void putPiece(long request, int index, long address, int length, int key) {
    long sge = request + Integer.toUnsignedLong(requestSize + index * RequestLayout.SGE_SIZE);
    RawMemory.putLong(sge + RequestLayout.SGE_ADDR, address);
    RawMemory.putLong(
        sge + RequestLayout.SGE_LENGTH,
        (long) key << Integer.SIZE | Integer.toUnsignedLong(length));
    RawMemory.putInt(request + RequestLayout.NUM_SGE, index + 1);
    state += 1 << PIECES;
  }

  /** Makes requests point to objects that each post checks, the given one at first. */
  protected final Referents refer(Referent initial) {
    Referents made = referents;
    if (made == null) {
      made = new Referents(index(end), initial);
      referents = made;
      limit = 0;
      complete = 0;
      disarm();
    }
    return made;
  }

  @Override
  protected boolean isFree() {
    return referents == null;
  }

  @Override
  protected void inspect() {
    if (referents != null) {
      referents.check(index(first), index(next));
    }
  }

  /** Returns the objects that a request points to, which a post would check. */
  protected final List<Referent> referentsOf(int index) {
    return referents == null ? List.of() : referents.of(index(first) + index);
  }

  /** Called after a post of a chain that refers to objects, whether or not it succeeded. */
  protected void settle() {}

  /** Returns whether a request that was added has been posted since. */
  protected final boolean isPosted(long added) {
    return added < first || added >= next;
  }

  /** Returns the index of a request in the memory of the chain. */
  protected final int index(long request) {
    return (int) ((request - requests) >> strideShift);
  }

  /** Passes the addresses of the requests that a post would post. */
  protected final void forEach(LongConsumer action) {
    for (long each = first; each != next; each += stride) {
      action.accept(each);
    }
  }

  /** Copies the requests that a post would post. */
  protected final RequestCopies copyAll() {
    return new RequestCopies(memory, first - requests, count(), stride, requestSize);
  }

  /**
   * Returns the distance of an address in the memory of the chain from the beginning of its
   * request.
   */
  protected final long offsetInRequest(long address) {
    return (address - requests) & (stride - 1);
  }

  /** Returns whether an address lies in the memory of the chain. */
  protected final boolean contains(long address) {
    return address >= requests && address < end;
  }

  /** Returns the number of requests that a post would post. */
  protected final int count() {
    return index(next) - index(first);
  }

  /** Drops the requests. */
  protected final void drop() {
    own();
    first = requests;
    empty();
  }

  /** Posts the requests, and returns their number. */
  protected final int postAll() {
    if (next != complete) {
      return postUnusual();
    }
    int errno = post(requests, end);
    if (errno != 0) {
      throw refused(errno);
    }
    int posted = index(next);
    empty();
    return posted;
  }

  private int postUnusual() {
    own();
    int posted = count();
    if (posted == 0) {
      inspect();
      return 0;
    }
    cut();
    int errno = post(first, end);
    RuntimeException refused = errno == 0 ? null : refused(errno);
    if (refused == null) {
      first = requests;
      empty();
    }
    settle();
    if (refused != null) {
      throw refused;
    }
    return posted;
  }

  /** Makes the chain end at the current request, and links the request where it ended before. */
  private void cut() {
    if (last + stride != end) {
      RawMemory.putLong(last + RequestLayout.NEXT, last + stride);
    }
    last = next - stride;
    RawMemory.putLong(last + RequestLayout.NEXT, 0);
    complete = referents == null && first == requests ? next : 0;
  }

  private void empty() {
    next = requests;
    state = NONE;
  }

  private RuntimeException refused(int errno) {
    long bad = RawMemory.getLong(end);
    RawMemory.putLong(end, 0);
    complete = 0;
    if (bad == 0) {
      first = requests;
      empty();
      return refusal(errno, UNKNOWN);
    }
    int index = index(bad) - index(first);
    first = bad;
    return refusal(errno, index);
  }

  private long totalBytes(long request) {
    long total = 0;
    for (int i = 0; i < state >> PIECES; i++) {
      long sge = request + requestSize + (long) i * RequestLayout.SGE_SIZE;
      total += Integer.toUnsignedLong(RawMemory.getInt(sge + RequestLayout.SGE_LENGTH));
    }
    return total;
  }

  private void checkTotal(long bytes) {
    if (bytes > maxBytes) {
      throw new IndexOutOfBoundsException(
          "the pieces of the request have "
              + bytes
              + " bytes, must be at most the "
              + maxBytes
              + " bytes of the remote memory that it names");
    }
  }

  private void checkAnotherPiece(long length) {
    if ((state & LIMITED) != 0) {
      checkTotal(totalBytes(current()) + length);
    }
    if ((state & NO_PIECES) != 0 || state >> PIECES >= maxPieces) {
      throw new IllegalArgumentException(
          "a request of this queue has at most "
              + maxPieces
              + " pieces; create the queue with more sendSges or receiveSges");
    }
  }
}
