package org.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import org.rdma4j.RdmaException;
import org.rdma4j.bindings.inlines.Errno;

/** Turns what verbs functions return on failure into exceptions. */
final class Native {
  private Native() {}

  /** For functions that return a new object, or NULL and errno. */
  static MemorySegment created(String call, MemorySegment object) {
    if (object.address() == 0) {
      throw new RdmaException(call, Errno.errno());
    }
    return object;
  }

  /** For functions that return 0 or the errno value. */
  static void check(String call, int errno) {
    if (errno != 0) {
      throw new RdmaException(call, errno);
    }
  }
}
