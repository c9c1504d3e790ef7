package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Memory that a user has registered, and may close at any moment. */
final class UserRegion {
  final MemorySegment segment;
  private @Nullable RuntimeException closed;

  /** The number of requests that use it, as far as the session says. */
  private int uses;

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

  boolean isInUse() {
    return uses > 0;
  }

  /** Returns the memory; null if the device must not access it any more. */
  @Nullable MemorySegment accessible() {
    assertThat(isInUse()).as("the device accesses memory that may have gone back").isTrue();
    return closed == null ? segment : null;
  }

  @Nullable RuntimeException whyClosed() {
    return closed;
  }

  /** Returns what a session asks about such memory. */
  static UserMemory asked() {
    return new UserMemory() {
      @Override
      public @Nullable RuntimeException whyClosed(Object memory) {
        return ((UserRegion) memory).closed;
      }

      @Override
      public void begin(Object memory) {
        ((UserRegion) memory).uses++;
      }

      @Override
      public void end(Object memory) {
        UserRegion region = (UserRegion) memory;
        region.uses--;
        assertThat(region.uses).as("uses of memory end once").isNotNegative();
      }
    };
  }
}
