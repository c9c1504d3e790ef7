package org.rdma4j.tools.selftest;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.MemoryRegion;

/** Compares what arrived with what was sent. */
final class Expected {
  private Expected() {}

  /** Fails if a value differs. */
  static void equal(String subject, String what, Object found, Object expected) {
    if (!found.equals(expected)) {
      throw new Failure("%s has the %s %s, must have %s".formatted(subject, what, found, expected));
    }
  }

  /** Fails if a byte differs. */
  static void equal(String subject, byte[] found, byte[] expected) {
    int first = Arrays.mismatch(found, expected);
    if (first >= 0) {
      throw new Failure(
          "%s of %d bytes arrived with other data from byte %d on"
              .formatted(subject, expected.length, first));
    }
  }

  static byte[] random(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  static void put(MemoryRegion region, byte[] bytes) {
    MemorySegment.copy(bytes, 0, region.segment(), ValueLayout.JAVA_BYTE, 0, bytes.length);
  }

  static byte[] get(MemoryRegion region, long offset, int length) {
    return region.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
  }
}
