package org.rdma4j.interop;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

/** Bytes that begin with their number, and of which the others follow from it. */
final class NumberedBytes {
  /** The length of each message that a client sends through its broker. */
  static final int OF_A_MESSAGE = 200;

  // What such a client prints, before a number.
  static final String RECEIVED = "received ";
  static final String RESUMED = "resumed ";

  private NumberedBytes() {}

  static byte[] of(int number, int length) {
    byte[] bytes = new byte[length];
    new Random(number).nextBytes(bytes);
    ByteBuffer.wrap(bytes).putInt(number);
    return bytes;
  }

  /** Throws an exception unless these are the bytes with this number. */
  static void check(byte[] bytes, int number) {
    if (!Arrays.equals(bytes, of(number, bytes.length))) {
      throw new IllegalStateException(
          "instead of number %d came %d, or its bytes are wrong"
              .formatted(number, ByteBuffer.wrap(bytes).getInt()));
    }
  }
}
