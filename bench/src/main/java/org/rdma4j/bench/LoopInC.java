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
import java.util.List;
import org.rdma4j.verbs.MemoryRegion;

/** A benchmark's loop in C, one of {@code loops.c}, on the queues of a stand-in. */
final class LoopInC {
  /** Compiled with -O2. */
  static final String OPTIMIZED = "libloops.so";

  /** Compiled without the passes that join small stores, besides. */
  static final String UNMERGED = "libloops-unmerged.so";

  private static final long WORK = 48;

  private final MethodHandle loop;

  /** {@code struct work[]}. */
  private final MemorySegment works;

  /** On several, which the loop uses in turn where it is made for that, else on the first. */
  LoopInC(String library, String name, List<StandIn> standIns) {
    loop = link(library, name, FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_LONG));
    works = works(standIns);
  }

  static MethodHandle link(String library, String name, FunctionDescriptor shape) {
    MemorySegment function =
        SymbolLookup.libraryLookup(library, Arena.global()).find(name).orElseThrow();
    return Linker.nativeLinker().downcallHandle(function, shape);
  }

  static MemorySegment works(List<StandIn> standIns) {
    MemorySegment works = Arena.ofAuto().allocate(WORK * standIns.size(), Long.BYTES);
    long at = 0;
    for (StandIn standIn : standIns) {
      MemoryRegion region = standIn.region();
      works.set(ADDRESS, at, standIn.queuePair().handle());
      works.set(ADDRESS, at + 8, standIn.completionQueue().handle());
      works.set(JAVA_LONG, at + 16, region.remoteAddress());
      works.set(JAVA_LONG, at + 24, region.segment().byteSize());
      works.set(JAVA_INT, at + 32, StandIn.MESSAGE);
      works.set(JAVA_INT, at + 36, region.localKey());
      works.set(JAVA_INT, at + 40, region.remoteKey());
      works.set(JAVA_INT, at + 44, standIns.size());
      at += WORK;
    }
    return works;
  }

  /** The nanoseconds that so many operations took. */
  long nanos(long operations) {
    long nanos;
    try {
      nanos = (long) loop.invokeExact(works, operations);
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
    if (nanos < 0) {
      throw new IllegalStateException("a call of the loop in C failed");
    }
    return nanos;
  }
}
