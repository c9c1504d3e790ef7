package org.rdma4j.bench.standin;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.rdma4j.testing.OwnJvm;

/** Runs a main class in another JVM, in which the stand-in takes the place of libibverbs. */
public final class ChildJvm {
  private ChildJvm() {}

  /**
   * Runs a main class, which must exit with status 0 in time.
   *
   * @param limit the longest time that it may take
   * @param options options of the JVM
   * @param main the main class
   * @param arguments its arguments
   * @return what it printed, errors included
   * @throws IOException if the JVM cannot be started
   * @throws InterruptedException if this thread is interrupted
   */
  public static String run(Duration limit, List<String> options, Class<?> main, String... arguments)
      throws IOException, InterruptedException {
    Map<String, String> standIn = Map.of("LD_LIBRARY_PATH", System.getProperty("standin"));
    return OwnJvm.run(main, limit, options, standIn, arguments);
  }
}
