package org.rdma4j.bench.loops;

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
import org.rdma4j.bench.standin.StandIn;
import org.rdma4j.bench.standin.StandInLibraries;
import org.rdma4j.verbs.MemoryRegion;

/** A benchmark's loop in C, a function of {@code loops.c}, on the queues of a stand-in device. */
public final class LoopInC {
  /** The library that is compiled with -O2. */
  public static final String OPTIMIZED = "libloops.so";

  /** The library that is compiled with -O2, but without the passes that join small stores. */
  static final String UNMERGED = "libloops-unmerged.so";

  /** The size of {@code struct work}. */
  private static final long WORK = 48;

  private final MethodHandle loop;

  /** {@code struct work[]}. */
  private final MemorySegment works;

  /** Links a loop. It uses the first queue pair, or all in turn if it is made for that. */
  LoopInC(String library, String name, List<StandIn> standIns) {
    loop = link(library, name, FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_LONG));
    works = works(standIns);
  }

  /**
   * Links a function of a library in the folder of the stand-in.
   *
   * @param library the library's file name
   * @param name the function's name
   * @param shape the types of its result and parameters
   * @return a handle that calls it
   */
  public static MethodHandle link(String library, String name, FunctionDescriptor shape) {
    MemorySegment function =
        SymbolLookup.libraryLookup(StandInLibraries.of(library), Arena.global())
            .find(name)
            .orElseThrow();
    return Linker.nativeLinker().downcallHandle(function, shape);
  }

  /**
   * Describes queue pairs and regions to a loop.
   *
   * @param standIns the queue pairs
   * @return the array of {@code struct work} that each loop takes
   */
  public static MemorySegment works(List<StandIn> standIns) {
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

  /** Runs the loop for a number of operations; returns the nanoseconds that they took. */
  long nanos(long operations) {
    long nanos;
    try {
      nanos = (long) loop.invokeExact(works, operations);
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
    if (nanos < 0) {
      throw new IllegalStateException("a post or a poll failed in the loop in C");
    }
    return nanos;
  }
}
