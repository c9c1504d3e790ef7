package org.rdma4j.connection.wire;

import java.nio.ByteBuffer;

/** What an {@link Offer} has, true or not, byte by byte. */
public record Offered(int message, long total, long offset, long length, long address, int key) {
  public static Offered read(ByteBuffer bytes) {
    return new Offered(
        bytes.getInt(),
        bytes.getLong(),
        bytes.getLong(),
        bytes.getLong(),
        bytes.getLong(),
        bytes.getInt());
  }

  public ByteBuffer write() {
    return ByteBuffer.allocate(Offer.BYTES)
        .putInt(message)
        .putLong(total)
        .putLong(offset)
        .putLong(length)
        .putLong(address)
        .putInt(key)
        .flip();
  }
}
