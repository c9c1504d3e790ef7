package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A part of a memory region. It is valid until the region is closed.
 *
 * @param region the region
 * @param offset the offset of the first byte in the region
 * @param length the length in bytes
 * @see MemoryRegion#slice
 */
public record MemorySlice(MemoryRegion region, long offset, long length) {
  /**
   * Checks that the part is within the region.
   *
   * @throws IndexOutOfBoundsException if it is not
   */
  public MemorySlice {
    region.addressOf(offset, length);
  }

  /**
   * Returns the memory of this part, which any thread may read and write.
   *
   * @return the memory
   * @throws UnsupportedOperationException if this process cannot access the memory
   */
  public MemorySegment segment() {
    return region.segment().asSlice(offset, length);
  }

  /**
   * Returns the memory of this part as a ByteBuffer. Its byte order is big-endian, as that of every
   * new ByteBuffer.
   *
   * @return the memory
   * @throws UnsupportedOperationException if the part is longer than a ByteBuffer can be, 2 GiB -
   *     1, or if this process cannot access the memory
   */
  public ByteBuffer byteBuffer() {
    MemorySegment memory = segment();
    if (length > Integer.MAX_VALUE) {
      throw new UnsupportedOperationException(
          "the length is "
              + length
              + ", must be at most "
              + Integer.MAX_VALUE
              + " for a ByteBuffer: use slices");
    }
    return memory.asByteBuffer();
  }

  /**
   * Returns the address of the first byte in requests of a peer.
   *
   * @return the address, as an unsigned number
   */
  public long remoteAddress() {
    return region.remoteAddress() + offset;
  }

  /**
   * Returns a part of this part.
   *
   * @param offset the offset of the first byte in this part
   * @param length the length in bytes, may be 0
   * @return the part of the region
   * @throws IndexOutOfBoundsException if it is not within this part
   */
  public MemorySlice slice(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, this.length);
    return new MemorySlice(region, this.offset + offset, length);
  }
}
