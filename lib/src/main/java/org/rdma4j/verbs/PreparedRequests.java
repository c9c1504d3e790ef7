package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.datapath.Referent;
import org.rdma4j.datapath.RequestCopies;
import org.rdma4j.datapath.RequestLayout;

/**
 * Work requests that were built and checked once, and can be posted any number of times. Most
 * programs post the same few requests again and again, with another id or another part of the
 * memory: preparing them saves most of the work of a post.
 *
 * <p>Between posts, the methods that take an index change one request. The index says which one, in
 * the order in which they were added, from 0. A change stays until the next one.
 *
 * <p>No method allocates. Prepared requests belong to the first thread that uses them, until that
 * thread calls {@link #release}; if another thread uses them, every method but {@link #size} throws
 * IllegalStateException, which their descriptions do not repeat. After the queue, or a memory
 * region or address handle that they use, is closed, {@link #post} throws IllegalStateException. If
 * it is closed during a post, the close waits until the post returns.
 *
 * @param <T> the kind of requests
 */
// Users cannot name the superclass, nor call it: its members are protected, and no other class
// can extend this.
public abstract sealed class PreparedRequests<T extends PreparedRequests<T>> extends HotCall
    permits PreparedSends, PreparedReceives {
  /*
   * What is known about a request, at distances from its entry: the address that an offset begins
   * at, the largest offset (a negative one if the request has no single piece to move), and the
   * largest length. The request comes after it. All distances are positive, because the compiler
   * then omits the bounds checks.
   */
  private static final long BASE = 0;
  private static final long LIMIT = BASE + Long.BYTES;
  static final long MAX_LENGTH = LIMIT + Long.BYTES;
  static final long REQUEST = RequestCopies.ROW;

  private final RequestCopies copies;
  private final Set<Referent> referents;
  private final long entries;
  private final int size;
  private final int strideShift;
  private final long badRequest;

  PreparedRequests(Target target, RequestCopies copies, Set<Referent> referents) {
    super(target);
    this.copies = copies;
    this.referents = referents;
    this.entries = copies.first();
    this.size = copies.size();
    this.strideShift = copies.strideShift();
    this.badRequest = copies.badRequest();
    referents.forEach(each -> each.addWatcher(this));
  }

  /** Where a piece can lie. */
  record Place(long start, long bytes) {}

  /** Finds where a piece can lie. */
  @FunctionalInterface
  interface Places {
    /** Returns the place; null if the piece cannot move. */
    @Nullable Place find(int key, long address, long length);
  }

  /**
   * Stores what is known about the pieces of the request of an entry.
   *
   * @return the number of bytes of the pieces
   */
  static long describePieces(long entry, int requestSize, Places places) {
    long limit = -1;
    long maxLength = 0;
    long bytes = 0;
    int pieces = RawMemory.getInt(entry + REQUEST + RequestLayout.NUM_SGE);
    for (int i = 0; i < pieces; i++) {
      long piece = entry + REQUEST + requestSize + (long) i * RequestLayout.SGE_SIZE;
      int length = RawMemory.getInt(piece + RequestLayout.SGE_LENGTH);
      bytes += Integer.toUnsignedLong(length);
      Place place =
          places.find(
              RawMemory.getInt(piece + RequestLayout.SGE_LKEY),
              RawMemory.getLong(piece + RequestLayout.SGE_ADDR),
              Integer.toUnsignedLong(length));
      if (pieces == 1) {
        maxLength = bytes;
        if (place != null) {
          limit = place.bytes - bytes;
          RawMemory.putLong(entry + BASE, place.start);
        }
      }
    }
    RawMemory.putLong(entry + LIMIT, limit);
    RawMemory.putLong(entry + MAX_LENGTH, maxLength);
    return bytes;
  }

  /** Returns the size of the struct of a request, which its list of pieces follows. */
  abstract int requestSize();

  /** Returns this. */
  abstract T self();

  /** Creates the exception for a request that the provider refused. */
  abstract PostException refusal(int errno, int index);

  /**
   * Returns the number of requests.
   *
   * @return the number of requests, at least 1
   */
  public final int size() {
    return size;
  }

  /**
   * Sets the id of a request.
   *
   * @param index which request, from 0 to {@link #size} - 1
   * @param id the number that identifies the request in its completion
   * @return this
   * @throws IndexOutOfBoundsException if there is no such request
   */
  public final T id(int index, long id) {
    RawMemory.putLong(at(index) + REQUEST + RequestLayout.WR_ID, id);
    return self();
  }

  /**
   * Moves the piece of a request to another place in its memory region. The request must have
   * exactly one piece of a region.
   *
   * @param index which request, from 0 to {@link #size} - 1
   * @param offset the offset in the region, in bytes; the piece must stay within the region with
   *     the length that it was built with
   * @return this
   * @throws IndexOutOfBoundsException if there is no such request, or the piece would not lie
   *     within the region
   * @throws IllegalStateException if the request does not have exactly one piece of a region, or
   *     the queue is closed
   */
  public final T offset(int index, long offset) {
    long entry = at(index);
    long limit = RawMemory.getLong(entry + LIMIT);
    if (offset < 0 || offset > limit) {
      throw badOffset(index, offset, limit);
    }
    RawMemory.putLong(
        entry + REQUEST + requestSize() + RequestLayout.SGE_ADDR,
        RawMemory.getLong(entry + BASE) + offset);
    return self();
  }

  /**
   * Sets the length of the piece of a request. The request must have exactly one piece, of a region
   * or inline, and must not be an atomic.
   *
   * @param index which request, from 0 to {@link #size} - 1
   * @param length the length in bytes, from 1 to the length that the piece was built with
   * @return this
   * @throws IndexOutOfBoundsException if there is no such request
   * @throws IllegalArgumentException if the length is out of range, or the request does not have
   *     exactly one piece
   */
  public final T length(int index, long length) {
    long entry = at(index);
    long max = RawMemory.getLong(entry + MAX_LENGTH);
    if (length <= 0 || length > max) {
      throw badLength(index, length, max);
    }
    RawMemory.putInt(entry + REQUEST + requestSize() + RequestLayout.SGE_LENGTH, (int) length);
    return self();
  }

  /**
   * Posts all requests in one call: {@code ibv_post_send}, {@code ibv_post_recv}, {@code
   * ibv_post_srq_recv} or {@code ibv_post_wq_recv}. An extended queue pair takes several calls,
   * {@code ibv_wr_start} to {@code ibv_wr_complete}.
   *
   * @return the number of requests that were posted
   * @throws PostException if the provider refuses a request: ENOMEM if the queue is full. The
   *     requests before it are posted; {@link #post(int, int)} can post the others
   * @throws IllegalStateException if the queue is not ready or closed, or something that the
   *     requests use is closed
   */
  public final int post() {
    int errno = post(entries + REQUEST, badRequest);
    if (errno != 0) {
      throw refused(errno, entries + REQUEST);
    }
    return size;
  }

  /**
   * Posts some of the requests, with the same functions as {@link #post()}.
   *
   * @param first which request is the first, from 0 to {@link #size}
   * @param count the number of requests, from 0 to {@link #size} - {@code first}
   * @return the number of requests that were posted
   * @throws IndexOutOfBoundsException if there are not so many requests
   * @throws PostException if the provider refuses a request; its index counts from {@code first}
   * @throws IllegalStateException as for {@link #post()}
   */
  public final int post(int first, int count) {
    if (first < 0 || count < 0 || count > size - first) {
      throw new IndexOutOfBoundsException(
          "first is %d and count is %d, but there are %d requests".formatted(first, count, size));
    }
    if (count == 0) {
      own();
      return 0;
    }
    postUntil(at(first) + REQUEST, at(first + count - 1) + REQUEST);
    return count;
  }

  /** Posts the requests from one to another. */
  final void postUntil(long from, long last) {
    long next = RawMemory.getLong(last + RequestLayout.NEXT);
    RawMemory.putLong(last + RequestLayout.NEXT, 0);
    int errno;
    try {
      errno = post(from, badRequest);
    } finally {
      RawMemory.putLong(last + RequestLayout.NEXT, next);
    }
    if (errno != 0) {
      throw refused(errno, from);
    }
  }

  /**
   * Ends the ownership of the requests by the current thread. The next thread that changes or posts
   * them becomes their owner.
   */
  public final void release() {
    releaseOwnership();
  }

  /** Returns the address of an entry, after a check that this thread may change it. */
  final long at(int index) {
    own();
    if (index < 0 || index >= size) {
      throw new IndexOutOfBoundsException(
          "index is " + index + ", must be from 0 to " + (size - 1));
    }
    return RawMemory.base(entries + ((long) index << strideShift));
  }

  /** Returns the memory of the requests. */
  final MemorySegment memory() {
    return copies.memory();
  }

  @Override
  protected boolean isFree() {
    for (Referent each : referents) {
      if (each.isGone()) {
        return false;
      }
    }
    return true;
  }

  @Override
  protected void inspect() {
    referents.forEach(Referent::check);
  }

  private PostException refused(int errno, long first) {
    long bad = RawMemory.getLong(badRequest);
    RawMemory.putLong(badRequest, 0);
    // From the last request the chain can go on with the first one.
    int index =
        bad == 0
            ? PostException.UNKNOWN
            : Math.floorMod((int) ((bad - first) >> strideShift), size);
    return refusal(errno, index);
  }

  private static RuntimeException badOffset(int index, long offset, long limit) {
    return limit < 0
        ? new IllegalStateException(
            "request " + index + " does not have exactly one piece of a memory region to move")
        : new IndexOutOfBoundsException(
            "offset of request %d is %d, must be from 0 to %d".formatted(index, offset, limit));
  }

  private static IllegalArgumentException badLength(int index, long length, long max) {
    return new IllegalArgumentException(
        max == 0
            ? "request " + index + " does not have exactly one piece whose length can change"
            : "length of request %d is %d, must be from 1 to %d bytes"
                .formatted(index, length, max));
  }
}
