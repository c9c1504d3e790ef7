package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A part of a memory region. It lives as long as the region.
 *
 * @param region the region
 * @param offset the first byte of the part within the region
 * @param length its length in bytes
 */
public record MemorySlice(MemoryRegion region, long offset, long length) {
  /**
   * Checks that the part lies within the region.
   *
   * @throws IndexOutOfBoundsException where it does not
   * @throws IllegalStateException where the region is closed
   */
  public MemorySlice {
    region.addressOf(offset, length);
  }

  /**
   * The memory of this part, for reading and writing from any thread.
   *
   * @return its memory
   * @throws IllegalStateException where the region is closed
   */
  public MemorySegment segment() {
    return region.segment().asSlice(offset, length);
  }

  /**
   * The memory of this part as a ByteBuffer, in big-endian order as every new one.
   *
   * @return its memory
   * @throws IllegalStateException where the region is closed
   * @throws UnsupportedOperationException where it is longer than a ByteBuffer can be, 2 GiB - 1
   */
  public ByteBuffer byteBuffer() {
    MemorySegment memory = segment();
    if (length > Integer.MAX_VALUE) {
      throw new UnsupportedOperationException(
          length
              + " bytes are more than a ByteBuffer holds, "
              + Integer.MAX_VALUE
              + ": take slices");
    }
    return memory.asByteBuffer();
  }

  /**
   * The address by which a peer names the first byte.
   *
   * @return the address, to be read as unsigned
   * @throws IllegalStateException where the region is closed
   */
  public long remoteAddress() {
    return region.remoteAddress() + offset;
  }

  /**
   * A part of this part.
   *
   * @param offset its first byte within this part
   * @param length its length in bytes, may be 0
   * @return the part of the region
   * @throws IndexOutOfBoundsException where it does not lie within this part
   * @throws IllegalStateException where the region is closed
   */
  public MemorySlice slice(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, this.length);
    return new MemorySlice(region, this.offset + offset, length);
  }
}
