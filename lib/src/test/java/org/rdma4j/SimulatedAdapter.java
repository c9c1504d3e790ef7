package org.rdma4j;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The simulated adapter, if this process runs on it. Neither the tool {@code rdma} nor the kernel
 * knows what this process holds there, so the adapter itself is asked.
 */
final class SimulatedAdapter {
  private static final String LIBRARY = System.getenv().getOrDefault("LD_PRELOAD", "");

  private SimulatedAdapter() {}

  static boolean isLoaded() {
    return LIBRARY.endsWith("librdma4j-mlx5.so");
  }

  private static MethodHandle function(String name, FunctionDescriptor type) {
    var symbol = SymbolLookup.libraryLookup(LIBRARY, Arena.global()).find(name).orElseThrow();
    return Linker.nativeLinker().downcallHandle(symbol, type);
  }

  /** Returns the kind of each object that the simulated kernel keeps for this process. */
  static List<String> objects(List<String> kinds) {
    MethodHandle count = function("mlx5sim_count", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    List<String> objects = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      for (String kind : kinds) {
        objects.addAll(
            Collections.nCopies((int) count.invokeExact(arena.allocateFrom(kind)), kind));
      }
    } catch (Throwable failed) {
      throw new AssertionError(failed);
    }
    return objects;
  }

  static long pinnedKib() {
    MethodHandle pinned = function("mlx5sim_pinned", FunctionDescriptor.of(JAVA_LONG));
    try {
      return (long) pinned.invokeExact() >> 10;
    } catch (Throwable failed) {
      throw new AssertionError(failed);
    }
  }
}
