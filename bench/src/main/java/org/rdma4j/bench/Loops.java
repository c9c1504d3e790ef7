package org.rdma4j.bench;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.rdma4j.verbs.MemoryRegion;

/** The loops of the benchmarks in C, {@code loops.c}, on the queues of a stand-in. */
final class Loops {
  private static final SymbolLookup LIBRARY =
      SymbolLookup.libraryLookup("libloops.so", Arena.global());
  private static final MethodHandle POST_AND_POLL =
      loop("post_and_poll", ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
  private static final MethodHandle EMPTY_POLL = loop("empty_poll", ADDRESS, JAVA_LONG);

  private final MemorySegment queuePair;
  private final MemorySegment completionQueue;
  private final MemoryRegion region;

  Loops(StandIn standIn) {
    this.queuePair = standIn.queuePair().handle();
    this.completionQueue = standIn.completionQueue().handle();
    this.region = standIn.region();
  }

  private static MethodHandle loop(String name, ValueLayout... arguments) {
    return Linker.nativeLinker()
        .downcallHandle(
            LIBRARY.find(name).orElseThrow(), FunctionDescriptor.of(JAVA_LONG, arguments));
  }

  /** The nanoseconds that so many rounds took. */
  long postAndPoll(int chain, long rounds) {
    try {
      return checked(
          (long)
              POST_AND_POLL.invokeExact(
                  queuePair,
                  completionQueue,
                  region.remoteAddress(),
                  StandIn.MESSAGE,
                  region.localKey(),
                  chain,
                  rounds));
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  /** The nanoseconds that so many polls took. */
  long emptyPoll(long rounds) {
    try {
      return checked((long) EMPTY_POLL.invokeExact(completionQueue, rounds));
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }

  private static long checked(long nanos) {
    if (nanos < 0) {
      throw new IllegalStateException("a call of the loop in C failed");
    }
    return nanos;
  }
}
