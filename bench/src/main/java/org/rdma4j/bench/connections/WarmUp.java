package org.rdma4j.bench.connections;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.rdma4j.connection.RdmaConnection;

/** Runs a loop until the compilers of both JVMs have been quiet for two parts of the warm-up. */
final class WarmUp {
  private static final Duration BEGINNING = Duration.ofSeconds(40);
  private static final Duration PART = Duration.ofSeconds(5);

  /** An emulated processor may need minutes for what a real one compiles in seconds. */
  private static final Duration AT_MOST = Duration.ofMinutes(8);

  /** If the compilers of both JVMs work no longer than this in a part, they have nothing to do. */
  private static final long QUIET_MILLIS = 150;

  private WarmUp() {}

  /** What a warm-up repeats. */
  interface Loop {
    void run(Duration time) throws Exception;
  }

  /**
   * Runs a loop.
   *
   * @param connection asks the peer for its compilers
   */
  static void run(RdmaConnection connection, Loop loop) throws Exception {
    run(() -> Compilers.millis(connection), loop);
  }

  /** Runs a loop whose peer is a program in C. */
  static void runHere(Loop loop) throws Exception {
    run(Compilers::millisHere, loop);
  }

  private static void run(Callable<Long> compilers, Loop loop) throws Exception {
    long begin = System.nanoTime();
    loop.run(BEGINNING);
    long before = compilers.call();
    int quiet = 0;
    while (quiet < 2 && System.nanoTime() - begin < AT_MOST.toNanos()) {
      loop.run(PART);
      long after = compilers.call();
      quiet = after - before <= QUIET_MILLIS ? quiet + 1 : 0;
      before = after;
    }
    System.out.printf(
        "  warmed up for %d s%s%n",
        Duration.ofNanos(System.nanoTime() - begin).toSeconds(),
        quiet < 2 ? ", and the compilers still work" : "");
  }
}
