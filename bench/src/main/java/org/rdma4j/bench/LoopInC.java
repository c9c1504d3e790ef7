package org.rdma4j.bench;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import org.rdma4j.verbs.MemoryRegion;

/** A benchmark's loop in C, one of {@code loops.c}, on the queues of a stand-in. */
final class LoopInC {
  /** Compiled with -O2. */
  static final String OPTIMIZED = "libloops.so";

  /** Compiled without the passes that join small stores, besides. */
  static final String UNMERGED = "libloops-unmerged.so";

  private final MethodHandle loop;

  /** {@code struct work}. */
  private final MemorySegment work = Arena.ofAuto().allocate(40, Long.BYTES);

  LoopInC(String library, String name, StandIn standIn) {
    loop =
        Linker.nativeLinker()
            .downcallHandle(
                SymbolLookup.libraryLookup(library, Arena.global()).find(name).orElseThrow(),
                FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_LONG));
    MemoryRegion region = standIn.region();
    work.set(ADDRESS, 0, standIn.queuePair().handle());
    work.set(ADDRESS, 8, standIn.completionQueue().handle());
    work.set(JAVA_LONG, 16, region.remoteAddress());
    work.set(JAVA_INT, 24, StandIn.MESSAGE);
    work.set(JAVA_INT, 28, region.localKey());
    work.set(JAVA_INT, 32, region.remoteKey());
  }

  /** The nanoseconds that so many operations took. */
  long nanos(long operations) {
    long nanos;
    try {
      nanos = (long) loop.invokeExact(work, operations);
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
    if (nanos < 0) {
      throw new IllegalStateException("a call of the loop in C failed");
    }
    return nanos;
  }
}
