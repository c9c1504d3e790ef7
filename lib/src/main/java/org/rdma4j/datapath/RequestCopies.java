package org.rdma4j.datapath;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Copies of the requests of a chain in memory of their own, linked in the same order. Each is the
 * second part of an entry; the first part, of {@link #ROW} bytes, is for what the owner knows about
 * the request. A word for the address of a refused request follows the last entry.
 */
public final class RequestCopies {
  /** The distance of a request from the beginning of its entry, in bytes. */
  public static final int ROW = 64;

  private final MemorySegment memory;
  private final int size;
  private final int strideShift;

  /**
   * Copies requests.
   *
   * @param source the memory of the chain
   * @param first the offset of the first request in it
   * @param size the number of requests
   * @param stride the distance of the requests in the chain, in bytes
   * @param requestSize the size of the struct of a request, which its list of pieces follows
   */
  RequestCopies(MemorySegment source, long first, int size, long stride, int requestSize) {
    this.size = size;
    this.strideShift = Long.SIZE - Long.numberOfLeadingZeros(ROW + stride - 1);
    long copyStride = 1L << strideShift;
    this.memory = Arena.ofAuto().allocate(size * copyStride + Long.BYTES, ROW);
    for (int i = 0; i < size; i++) {
      long from = first + i * stride;
      long to = i * copyStride + ROW;
      MemorySegment.copy(source, from, memory, to, stride);
      long copy = memory.address() + to;
      RawMemory.putLong(copy + RequestLayout.NEXT, i == size - 1 ? 0 : copy + copyStride);
      RawMemory.putLong(copy + RequestLayout.SG_LIST, copy + requestSize);
    }
  }

  /** Returns the memory, which must stay reachable as long as requests are posted. */
  public MemorySegment memory() {
    return memory;
  }

  /** Returns the number of requests. */
  public int size() {
    return size;
  }

  /** Returns the address of the first entry. */
  public long first() {
    return memory.address();
  }

  /** Returns the number of bits by which an index is shifted to give a distance in bytes. */
  public int strideShift() {
    return strideShift;
  }

  /** Returns the address of an entry. */
  public long at(int index) {
    return first() + ((long) index << strideShift);
  }

  /** Returns the address of the word for the address of a refused request. */
  public long badRequest() {
    return memory.address() + ((long) size << strideShift);
  }
}
