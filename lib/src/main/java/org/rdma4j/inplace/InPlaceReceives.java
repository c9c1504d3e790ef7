package org.rdma4j.inplace;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.rdma4j.ErrorNumber;
import org.rdma4j.bindings.generated.ibv_recv_wr;
import org.rdma4j.datapath.ChainPosting;
import org.rdma4j.datapath.QueueUse;
import org.rdma4j.datapath.RawMemory;
import org.rdma4j.datapath.RequestLayout;
import org.rdma4j.inplace.Mlx5Objects.QueuePairMemory;

/**
 * The receive queue of a queue pair, as {@code mlx5_post_recv} writes it. Each request takes one
 * place, whose data segments say where a message goes.
 */
public final class InPlaceReceives extends ChainPosting {
  static final int REQUEST_SIZE = (int) ibv_recv_wr.layout().byteSize();

  private static final VarHandle COMPLETED;

  static {
    try {
      COMPLETED =
          MethodHandles.lookup().findVarHandle(InPlaceReceives.class, "completed", int.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final SpinLock lock = new SpinLock();
  private final QueueUse use;
  private final long queue;
  private final int mask;
  private final int strideShift;
  private final long record;
  private final int maxRequests;
  private final int maxPieces;
  private final long[] ids;

  /** How many requests were posted, and how many of them were complete when last looked at. */
  private int posted;

  private int knownCompleted;

  /** How many requests are complete, as polls say. */
  private int completed;

  /**
   * Creates the means to post.
   *
   * @param maxRequests how many requests libmlx5 allows to be outstanding
   * @param use whether several threads use the queue pair
   */
  InPlaceReceives(QueuePairMemory memory, int maxRequests, QueueUse use) {
    this.use = use;
    this.queue = memory.receives();
    this.mask = memory.receiveCount() - 1;
    this.strideShift = Integer.numberOfTrailingZeros(memory.receiveStride());
    this.record = memory.record();
    this.maxRequests = maxRequests;
    this.maxPieces = memory.receiveStride() / RequestSegments.UNIT;
    this.ids = new long[Math.max(1, memory.receiveCount())];
  }

  @Override
  public int post(long requests, long badRequest) {
    if (!use.isShared()) {
      return write(requests, badRequest);
    }
    lock.lock();
    try {
      return write(requests, badRequest);
    } finally {
      lock.unlock();
    }
  }

  private int write(long requests, long badRequest) {
    int next = posted;
    int error = 0;
    long each = RawMemory.base(requests);
    do {
      if (next - knownCompleted >= maxRequests && isFull(next)) {
        RawMemory.putLong(badRequest, each);
        error = ErrorNumber.ENOMEM.value();
        break;
      }
      int index = next & mask;
      long at = RawMemory.base(queue + ((long) index << strideShift));
      int pieces = RawMemory.getInt(each + RequestLayout.NUM_SGE);
      putPieces(at, each + REQUEST_SIZE, pieces, maxPieces);
      ids[index & ids.length - 1] = RawMemory.getLong(each + RequestLayout.WR_ID);
      next++;
      each = RawMemory.base(RawMemory.getLong(each + RequestLayout.NEXT));
    } while (each != 0);
    if (next != posted) {
      posted = next;
      RawMemory.putIntRelease(RawMemory.base(record), Integer.reverseBytes(next & 0xffff));
    }
    return error;
  }

  /** Writes the pieces of a receive, and an end if there is room for more. */
  static void putPieces(long at, long list, int pieces, int maxPieces) {
    long to = at;
    for (int i = 0; i < pieces; i++) {
      long piece = list + (long) i * RequestLayout.SGE_SIZE;
      RequestSegments.putData(
          to,
          RawMemory.getLong(piece + RequestLayout.SGE_ADDR),
          RawMemory.getInt(piece + RequestLayout.SGE_LENGTH),
          RawMemory.getInt(piece + RequestLayout.SGE_LKEY));
      to += RequestSegments.UNIT;
    }
    if (pieces < maxPieces) {
      RequestSegments.putEnd(to);
    }
  }

  private boolean isFull(int next) {
    knownCompleted = (int) COMPLETED.getAcquire(this);
    return next - knownCompleted >= maxRequests;
  }

  /** Returns the id of the request at a position, which has completed. */
  long complete(int position) {
    long id = ids[position & ids.length - 1];
    COMPLETED.setRelease(this, completed + 1);
    return id;
  }

  /**
   * Begins at the beginning, as the queue pair does in the state RESET. To be called while the
   * queue pair is shared.
   */
  void reset() {
    lock.lock();
    try {
      posted = 0;
      knownCompleted = 0;
      COMPLETED.setRelease(this, 0);
    } finally {
      lock.unlock();
    }
  }
}
