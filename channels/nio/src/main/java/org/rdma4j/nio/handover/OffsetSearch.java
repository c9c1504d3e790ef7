package org.rdma4j.nio.handover;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * What an end has read from TCP while its peer may have stopped to write there without notice: the
 * RDMA connection has failed before the peer's offset arrived. Then the record of the peer's {@link
 * Resume} shows it, because that is behind the last byte of the stream over TCP.
 *
 * <p>Bytes that may be the begin of a record are held back, until more of them show whether they
 * are. No program can write bytes that are taken for a record: it lacks the key.
 */
final class OffsetSearch {
  private byte[] bytes = {};
  private int length;

  /** How many of the bytes are of the stream for certain. */
  private int decided;

  /** Returns the number of bytes that were not taken. */
  int length() {
    return length;
  }

  /** Returns how many of them are of the stream for certain. */
  int decided() {
    return decided;
  }

  void add(ByteBuffer source, int from, int count) {
    if (length + count > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(length + count, 2 * length));
    }
    source.get(from, bytes, length, count);
    length += count;
  }

  /**
   * Looks for a record.
   *
   * @param check returns whether there is an authentic one at an index
   * @return the index; -1 if there is none yet
   */
  int find(IntPredicate check) {
    while (decided < length) {
      if (Resume.isBegin(at(decided))) {
        if (length - decided < Resume.RECORD_BYTES) {
          return -1;
        }
        if (check.test(decided)) {
          return decided;
        }
      }
      decided++;
    }
    return -1;
  }

  /** Returns the bytes from an index on. */
  ByteBuffer at(int index) {
    return ByteBuffer.wrap(bytes, index, length - index);
  }

  /** Moves the first bytes into a buffer. */
  void take(ByteBuffer target, int count) {
    target.put(bytes, 0, count);
    length -= count;
    decided = Math.max(0, decided - count);
    // Not kept, because most of the time there are few or none.
    bytes = length == 0 ? new byte[0] : Arrays.copyOfRange(bytes, count, count + length);
  }

  /** Removes and returns the bytes from an index on. */
  ByteBuffer takeFrom(int index) {
    ByteBuffer rest = ByteBuffer.wrap(Arrays.copyOfRange(bytes, index, length));
    length = index;
    decided = Math.min(decided, length);
    return rest;
  }
}
