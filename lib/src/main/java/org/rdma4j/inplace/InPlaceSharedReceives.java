package org.rdma4j.inplace;

import java.lang.foreign.MemorySegment;
import org.rdma4j.ErrorNumber;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.datapath.RequestLayout;
import org.rdma4j.inplace.Mlx5Objects.SharedMemory;

/**
 * A shared receive queue, as {@code mlx5_post_srq_recv} writes it. Its requests are a list: each
 * has the index of the next one, and the adapter takes them in this order. Completions free them in
 * any order, and free requests go to the end of the list.
 *
 * <p>A poll only notes here which requests are free. The next post that finds the list empty links
 * them, because the memory of the queue is certain to exist during a post.
 */
public final class InPlaceSharedReceives extends ChainPosting {
  private final SpinLock lock = new SpinLock();
  private final long queue;
  private final int strideShift;
  private final long record;
  private final int maxPieces;
  private final long[] ids;

  /** The free request that is used next, and the last one of the list, which is kept free. */
  private int head;

  private int tail;

  /** How many requests were posted. */
  private int posted;

  /** The requests that polls have freed since a post last linked them, a ring. */
  private final short[] freed;

  private int freedFirst;
  private int freedEnd;

  private InPlaceSharedReceives(SharedMemory memory) {
    this.queue = memory.requests();
    this.strideShift = Integer.numberOfTrailingZeros(memory.stride());
    this.record = memory.record();
    this.maxPieces = memory.stride() / RequestSegments.UNIT - 1;
    this.head = memory.head();
    this.tail = memory.tail();
    this.ids = new long[tail + 1];
    this.freed = new short[Integer.highestOneBit(tail + 1) * 2];
  }

  /**
   * Takes over a queue, to which nothing was posted.
   *
   * @param support how queues are used in place on the device
   */
  public static InPlaceSharedReceives of(InPlaceSupport support, MemorySegment queue) {
    return new InPlaceSharedReceives(support.objects().sharedReceiveQueue(queue));
  }

  @Override
  public int post(long requests, long badRequest) {
    lock.lock();
    try {
      return write(requests, badRequest);
    } finally {
      lock.unlock();
    }
  }

  private int write(long requests, long badRequest) {
    int added = 0;
    int error = 0;
    long each = RawMemory.base(requests);
    do {
      if (head == tail && !linkFreed()) {
        RawMemory.putLong(badRequest, each);
        error = ErrorNumber.ENOMEM.value();
        break;
      }
      long at = request(head);
      ids[head] = RawMemory.getLong(each + RequestLayout.WR_ID);
      head = RequestSegments.next(at);
      InPlaceReceives.putPieces(
          at + RequestSegments.UNIT,
          each + InPlaceReceives.REQUEST_SIZE,
          RawMemory.getInt(each + RequestLayout.NUM_SGE),
          maxPieces);
      added++;
      each = RawMemory.base(RawMemory.getLong(each + RequestLayout.NEXT));
    } while (each != 0);
    if (added != 0) {
      posted += added;
      ring();
    }
    return error;
  }

  private void ring() {
    RawMemory.putIntRelease(RawMemory.base(record), Integer.reverseBytes(posted));
  }

  private long request(int index) {
    return RawMemory.base(queue + ((long) index << strideShift));
  }

  /** Adds the requests that polls have freed to the list. Returns whether there were any. */
  private boolean linkFreed() {
    boolean any = freedFirst != freedEnd;
    while (freedFirst != freedEnd) {
      int index = Short.toUnsignedInt(freed[freedFirst++ & freed.length - 1]);
      RequestSegments.putNext(request(tail), index);
      tail = index;
    }
    return any;
  }

  /** Returns the id of a request that has completed, and frees the request. */
  long complete(int index) {
    lock.lock();
    try {
      freed[freedEnd++ & freed.length - 1] = (short) index;
      return ids[index];
    } finally {
      lock.unlock();
    }
  }

  /**
   * Posts a request again, because the adapter gave it back when a page of its memory was not
   * present. This is called during a poll, and queue pairs keep the queue open.
   */
  void repost(int index) {
    lock.lock();
    try {
      freed[freedEnd++ & freed.length - 1] = (short) index;
      linkFreed();
      long from = request(index);
      long to = request(head);
      ids[head] = ids[index];
      for (int i = RequestSegments.UNIT; i < 1 << strideShift; i += Long.BYTES) {
        RawMemory.putLong(to + i, RawMemory.getLong(from + i));
      }
      head = RequestSegments.next(to);
      posted++;
      ring();
    } finally {
      lock.unlock();
    }
  }
}
