package org.rdma4j.connection.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.ByteOrder.BIG_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The 16 bytes that precede each message on the wire, big-endian: the kind, the flags, the number
 * of credits that come with the message, the number of offers that the sender of this message has
 * fetched since the last one, the length of the first of several messages or zero, and a number
 * whose meaning depends on the kind.
 */
public final class MessageHeader {
  public static final int BYTES = 16;

  /** The bytes that follow are an {@link Offer} of those of the message. */
  public static final int OFFER = 1;

  /** With {@link MessageKind#END}: the sender closes the connection, and receives nothing more. */
  public static final int CLOSED = 2;

  /** With {@link MessageKind#END}: the connection is broken, for the reason in the bytes. */
  public static final int BROKEN = 4;

  /**
   * With {@link MessageKind#MESSAGE}: other messages follow in the same SEND, each after its length
   * of {@link #LENGTH_BYTES}.
   */
  public static final int PACKED = 8;

  /** With a message that takes a credit: its sender had more to send, and no credit left. */
  public static final int LACKED_CREDIT = 16;

  /** The sender has read the last message of the protocol itself: its receive is free again. */
  public static final int PROTOCOL_READ = 32;

  public static final int LENGTH_BYTES = Integer.BYTES;

  /** The length of the longest message that others can follow. */
  public static final int MAX_FIRST_BYTES = 0xffff;

  /** The greatest number of credits or of fetched offers in one header. */
  public static final int MAX_COUNT = 0xffff;

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(BIG_ENDIAN);

  private MessageHeader() {}

  public static void write(
      MemorySegment memory,
      long at,
      MessageKind kind,
      int flags,
      int credits,
      int fetched,
      long number) {
    memory.set(JAVA_BYTE, at, (byte) kind.code());
    memory.set(JAVA_BYTE, at + 1, (byte) flags);
    memory.set(SHORT, at + 2, (short) credits);
    memory.set(SHORT, at + 4, (short) fetched);
    memory.set(SHORT, at + 6, (short) 0);
    memory.set(LONG, at + 8, number);
  }

  /** Adds the length of the first of several messages to a header that has {@link #PACKED}. */
  public static void writeFirstLength(MemorySegment memory, long at, int length) {
    memory.set(SHORT, at + 6, (short) length);
  }

  public static int kind(MemorySegment memory, long at) {
    return memory.get(JAVA_BYTE, at);
  }

  public static int flags(MemorySegment memory, long at) {
    return Byte.toUnsignedInt(memory.get(JAVA_BYTE, at + 1));
  }

  public static int credits(MemorySegment memory, long at) {
    return Short.toUnsignedInt(memory.get(SHORT, at + 2));
  }

  public static int fetched(MemorySegment memory, long at) {
    return Short.toUnsignedInt(memory.get(SHORT, at + 4));
  }

  /** Returns the length of the first of several messages; 0 unless {@link #PACKED} is set. */
  public static int firstLength(MemorySegment memory, long at) {
    return Short.toUnsignedInt(memory.get(SHORT, at + 6));
  }

  public static long number(MemorySegment memory, long at) {
    return memory.get(LONG, at + 8);
  }
}
