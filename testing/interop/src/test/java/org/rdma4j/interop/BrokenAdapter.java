package org.rdma4j.interop;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;

/** Breaks the simulated adapter of this process for a moment, so that all RDMA of it ends. */
final class BrokenAdapter {
  private static final Duration MOMENT = Duration.ofMillis(200);

  private BrokenAdapter() {}

  /** Returns whether this process has an adapter that can be broken. */
  static boolean isThere() {
    return System.getenv().getOrDefault("LD_PRELOAD", "").endsWith("librdma4j-mlx5.so");
  }

  /** Breaks it, and mends it. */
  static void forAMoment() throws InterruptedException {
    MethodHandle breakDown =
        Linker.nativeLinker()
            .downcallHandle(
                SymbolLookup.libraryLookup(System.getenv("LD_PRELOAD"), Arena.global())
                    .find("mlx5sim_break")
                    .orElseThrow(),
                FunctionDescriptor.ofVoid(ValueLayout.JAVA_BOOLEAN));
    call(breakDown, true);
    Thread.sleep(MOMENT);
    call(breakDown, false);
  }

  private static void call(MethodHandle breakDown, boolean broken) {
    try {
      breakDown.invokeExact(broken);
    } catch (Throwable thrown) {
      throw new IllegalStateException(thrown);
    }
  }
}
