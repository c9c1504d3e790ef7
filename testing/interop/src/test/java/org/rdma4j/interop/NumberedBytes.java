package org.rdma4j.interop;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

/** Bytes that begin with their number, and of which the others follow from it. */
final class NumberedBytes {
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
