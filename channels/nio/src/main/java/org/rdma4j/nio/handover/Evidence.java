package org.rdma4j.nio.handover;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/** How many bytes TCP carried in one direction, and which the first of them were. */
final class Evidence {
  /** The number of bytes that are kept. */
  static final int KEPT = 1024;

  private byte[] first = new byte[64];
  private long count;

  long count() {
    return count;
  }

  /**
   * Adds bytes.
   *
   * @param bytes a buffer that holds them
   * @param from the index of the first one
   * @param length their number
   */
  void add(ByteBuffer bytes, int from, int length) {
    if (count < KEPT) {
      int kept = (int) Math.min(length, KEPT - count);
      int end = (int) count + kept;
      if (end > first.length) {
        first = Arrays.copyOf(first, Math.min(KEPT, Math.max(end, 2 * first.length)));
      }
      bytes.get(from, first, (int) count, kept);
    }
    count += length;
  }

  /** Returns whether enough bytes are known for {@link #digest}. */
  boolean reaches(long position) {
    return Math.min(position, KEPT) <= count;
  }

  /** Returns the digest of the bytes before a position, as far as they are kept. */
  byte[] digest(long position) {
    MessageDigest digest = sha256();
    digest.update(first, 0, (int) Math.min(position, KEPT));
    return digest.digest();
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("each JDK has SHA-256", impossible);
    }
  }
}
