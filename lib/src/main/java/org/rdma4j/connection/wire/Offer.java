package org.rdma4j.connection.wire;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a message that is too long for a buffer: the receiver fetches it by RDMA read. All
 * pieces of a message have the same number and total, and come in order.
 *
 * @param message the number of the message among those of its sender
 * @param total the length of the message in bytes
 * @param offset the offset of the piece in the message
 * @param length the length of the piece in bytes
 * @param address where the piece is in the memory of the sender
 * @param key the remote key of that memory
 */
public record Offer(int message, long total, long offset, long length, long address, int key) {
  public static final int BYTES = 4 * Long.BYTES + 2 * Integer.BYTES;

  /**
   * The number of offers that a side may have made without a report that they were fetched. The
   * credit of an offer returns when the offer arrives, so credits do not limit this.
   */
  public static final int MAX_UNFETCHED = 64;

  /** Reads an offer; null if no honest peer sends it. */
  public static @Nullable Offer read(ByteBuffer bytes) {
    if (bytes.remaining() != BYTES) {
      return null;
    }
    Offer offer =
        new Offer(
            bytes.getInt(),
            bytes.getLong(),
            bytes.getLong(),
            bytes.getLong(),
            bytes.getLong(),
            bytes.getInt());
    boolean inside =
        offer.offset >= 0 && offer.length > 0 && offer.length <= offer.total - offer.offset;
    return inside ? offer : null;
  }

  /** Returns the offset of the first byte behind the piece. */
  public long end() {
    return offset + length;
  }

  public ByteBuffer write() {
    return ByteBuffer.allocate(BYTES)
        .putInt(message)
        .putLong(total)
        .putLong(offset)
        .putLong(length)
        .putLong(address)
        .putInt(key)
        .flip();
  }
}
