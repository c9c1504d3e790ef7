package org.rdma4j.connection.wire;

import static java.nio.ByteOrder.BIG_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A piece of a message that is too long for a buffer: the receiver fetches it by RDMA read. All
 * pieces of a message have the same number and total, and come in order. It is read again and
 * again, so that a message allocates nothing.
 */
public final class Offer {
  public static final int BYTES = 4 * Long.BYTES + 2 * Integer.BYTES;

  /**
   * The number of offers that a side may have made without a report that they were fetched. The
   * credit of an offer returns when the offer arrives, so credits do not limit this.
   */
  public static final int MAX_UNFETCHED = 64;

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(BIG_ENDIAN);

  private int message;
  private long total;
  private long offset;
  private long length;
  private long address;
  private int key;

  /** Reads an offer; returns whether an honest peer may have sent it. */
  public boolean read(MemorySegment memory, long at) {
    message = memory.get(INT, at);
    total = memory.get(LONG, at + 4);
    offset = memory.get(LONG, at + 12);
    length = memory.get(LONG, at + 20);
    address = memory.get(LONG, at + 28);
    key = memory.get(INT, at + 36);
    return offset >= 0 && length > 0 && length <= total - offset;
  }

  /**
   * Writes an offer.
   *
   * @param message the number of the message among those of its sender
   * @param total the length of the message in bytes
   * @param offset the offset of the piece in the message
   * @param length the length of the piece in bytes
   * @param address where the piece is in the memory of the sender
   * @param key the remote key of that memory
   */
  public static void write(
      MemorySegment memory,
      long at,
      int message,
      long total,
      long offset,
      long length,
      long address,
      int key) {
    memory.set(INT, at, message);
    memory.set(LONG, at + 4, total);
    memory.set(LONG, at + 12, offset);
    memory.set(LONG, at + 20, length);
    memory.set(LONG, at + 28, address);
    memory.set(INT, at + 36, key);
  }

  /** Returns the number of the message among those of its sender. */
  public int message() {
    return message;
  }

  /** Returns the length of the message in bytes. */
  public long total() {
    return total;
  }

  /** Returns the offset of the piece in the message. */
  public long offset() {
    return offset;
  }

  /** Returns the length of the piece in bytes. */
  public long length() {
    return length;
  }

  /** Returns the offset of the first byte behind the piece. */
  public long end() {
    return offset + length;
  }

  /** Returns whether the piece is the whole message. */
  public boolean isWhole() {
    return length == total;
  }

  /** Returns where the piece is in the memory of the sender. */
  public long address() {
    return address;
  }

  /** Returns the remote key of that memory. */
  public int key() {
    return key;
  }
}
