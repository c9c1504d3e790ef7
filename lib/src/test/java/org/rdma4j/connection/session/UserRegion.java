package org.rdma4j.connection.session;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Memory that a user has registered, and may close at any moment. */
final class UserRegion {
  final MemorySegment segment;
  private @Nullable RuntimeException closed;

  UserRegion(int longs) {
    segment = MemorySegment.ofArray(new byte[longs * Long.BYTES]);
  }

  /** Sets each number of it. */
  void fill(long value) {
    for (long i = 0; i < segment.byteSize() / Long.BYTES; i++) {
      segment.setAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, i, value);
    }
  }

  long get(int index) {
    return segment.getAtIndex(ValueLayout.JAVA_LONG_UNALIGNED, index);
  }

  void close() {
    closed = new IllegalStateException("the memory is closed");
  }

  boolean isClosed() {
    return closed != null;
  }

  /** Returns the memory; null if the device must not access it any more. */
  @Nullable MemorySegment accessible() {
    return closed == null ? segment : null;
  }

  static @Nullable RuntimeException whyClosed(Object memory) {
    return ((UserRegion) memory).closed;
  }
}
