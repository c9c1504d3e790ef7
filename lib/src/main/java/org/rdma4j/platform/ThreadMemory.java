package org.rdma4j.platform;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A few bytes of native memory for each thread, for a C function that is called often and returns
 * something through a pointer: to allocate and free them takes as long as some of these calls.
 */
public final class ThreadMemory {
  private final ThreadLocal<MemorySegment> memory;

  /** Creates memory of this length, aligned to that many bytes, in each thread that uses it. */
  public ThreadMemory(long bytes, long alignment) {
    memory = ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(bytes, alignment));
  }

  /** Returns the memory of the calling thread, as its last use left it. */
  public MemorySegment get() {
    return memory.get();
  }
}
