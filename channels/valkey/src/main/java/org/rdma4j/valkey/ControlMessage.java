package org.rdma4j.valkey;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.rdma4j.verbs.RemoteMemory;

/** A control message of the protocol: 32 bytes, big-endian, of which the first two are its kind. */
final class ControlMessage {
  static final int BYTES = 32;

  static final int GET_SERVER_FEATURE = 0;
  static final int SET_CLIENT_FEATURE = 1;
  static final int KEEPALIVE = 2;
  static final int REGISTER_XFER_MEMORY = 3;

  private static final ValueLayout.OfShort SHORT =
      JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private static final int ADDRESS = 16;
  private static final int LENGTH = 24;
  private static final int KEY = 28;

  private ControlMessage() {}

  /** Writes a message without further fields, or a message that selects and sets no features. */
  static void write(MemorySegment target, int kind) {
    target.asSlice(0, BYTES).fill((byte) 0);
    target.set(SHORT, 0, (short) kind);
  }

  /** Writes the message that names the buffer of this side. */
  static void write(MemorySegment target, RemoteMemory buffer) {
    write(target, REGISTER_XFER_MEMORY);
    target.set(LONG, ADDRESS, buffer.address());
    target.set(INT, LENGTH, (int) buffer.length());
    target.set(INT, KEY, buffer.key());
  }

  static int kind(MemorySegment message) {
    return Short.toUnsignedInt(message.get(SHORT, 0));
  }

  /** Reads the buffer that a message of the kind REGISTER_XFER_MEMORY names. */
  static RemoteMemory buffer(MemorySegment message) {
    return new RemoteMemory(
        message.get(LONG, ADDRESS),
        message.get(INT, KEY),
        Integer.toUnsignedLong(message.get(INT, LENGTH)));
  }
}
