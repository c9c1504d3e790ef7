package org.rdma4j.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import org.rdma4j.bindings.inlines.Errno;

/** What tests can make the simulated adapter do: the functions of simulation/adapter/faults.c. */
final class SimulatedAdapter {
  // Syndromes of failed requests, as in the completion that the adapter writes: mlx5_dv.h.
  static final int REMOTE_ACCESS_ERROR = 0x13;
  static final int REMOTE_OPERATION_ERROR = 0x14;
  static final int RETRY_EXCEEDED = 0x15;
  static final int RNR_RETRY_EXCEEDED = 0x16;

  private static final SymbolLookup LIBRARY =
      SymbolLookup.libraryLookup(System.getenv("LD_PRELOAD"), Arena.global());
  private static final MethodHandle FAIL =
      function("mlx5sim_fail", FunctionDescriptor.of(JAVA_BOOLEAN, JAVA_INT, JAVA_INT, JAVA_INT));
  private static final MethodHandle PORT =
      function("mlx5sim_port", FunctionDescriptor.ofVoid(JAVA_BOOLEAN));
  private static final MethodHandle BREAK =
      function("mlx5sim_break", FunctionDescriptor.ofVoid(JAVA_BOOLEAN));
  private static final MethodHandle SLOW =
      function("mlx5sim_slow", FunctionDescriptor.ofVoid(JAVA_LONG));

  private SimulatedAdapter() {}

  private static MethodHandle function(String name, FunctionDescriptor shape) {
    return Linker.nativeLinker().downcallHandle(LIBRARY.find(name).orElseThrow(), shape);
  }

  /** Lets the request after that many more of the queue pair fail with the syndrome. */
  static void fail(QueuePair queuePair, int after, int syndrome) {
    try {
      if (!(boolean) FAIL.invokeExact(queuePair.number(), after, syndrome)) {
        throw new IllegalStateException("the adapter does not have " + queuePair);
      }
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** Puts the cable into the port, or pulls it out. */
  static void port(boolean up) {
    try {
      PORT.invokeExact(up);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** Breaks the adapter, or mends it. */
  static void breakDown(boolean broken) {
    try {
      BREAK.invokeExact(broken);
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }

  /** Makes each request take at least that long. */
  static void slow(Duration each) {
    try {
      SLOW.invokeExact(each.toNanos());
    } catch (Throwable thrown) {
      throw Errno.unexpected(thrown);
    }
  }
}
