package org.rdma4j.bench.posts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rdma4j.testing.OwnJvm;

/** Runs a main class in another JVM, on the simulated adapter. */
final class ChildJvm {
  /** The adapter works when {@link SelfConnectedQueuePair#work} is called. */
  static final Map<String, String> STEPPED = Map.of("MLX5SIM_ENGINE", "manual");

  /** The same, and each request succeeds without moving data. */
  static final Map<String, String> STEPPED_SINK =
      Map.of("MLX5SIM_ENGINE", "manual", "MLX5SIM_SINK", "1");

  /** Each request succeeds without moving data, in a thread of the adapter. */
  static final Map<String, String> SINK = Map.of("MLX5SIM_SINK", "1");

  private ChildJvm() {}

  /**
   * Runs a main class, which must exit with status 0 in time.
   *
   * @param main the main class
   * @param limit the longest time that it may take
   * @param options options of the JVM
   * @param adapter how the adapter works, and other variables of the environment
   * @param arguments the arguments of the program
   * @return what it printed, errors included
   */
  static String run(
      Class<?> main,
      Duration limit,
      List<String> options,
      Map<String, String> adapter,
      String... arguments)
      throws IOException, InterruptedException {
    Map<String, String> environment = new HashMap<>(adapter);
    environment.put("LD_PRELOAD", Library.PATH);
    return OwnJvm.run(main, limit, options, environment, arguments);
  }

  /** The library of the simulated adapter, which is built if necessary. */
  private static final class Library {
    static final String PATH = build();

    private static String build() {
      try {
        Process script =
            new ProcessBuilder("../dev/lib/simulation")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String path = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = script.waitFor();
        if (status != 0) {
          throw new IllegalStateException("dev/lib/simulation failed with status " + status);
        }
        return path.strip();
      } catch (IOException | InterruptedException failed) {
        throw new IllegalStateException("cannot build the simulated adapter", failed);
      }
    }
  }
}
