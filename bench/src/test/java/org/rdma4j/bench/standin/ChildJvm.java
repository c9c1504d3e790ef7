package org.rdma4j.bench.standin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

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
    Path output = Files.createTempFile("child", ".log");
    try {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.add("--enable-native-access=ALL-UNNAMED");
      command.add("-XX:-CreateCoredumpOnCrash");
      command.add("-XX:ErrorFile=/dev/stderr");
      command.addAll(options);
      command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
      command.addAll(List.of(arguments));
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
      builder.environment().put("LD_LIBRARY_PATH", System.getProperty("standin"));
      Process child = builder.start();
      boolean ended = child.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
      if (!ended) {
        child.destroyForcibly().waitFor();
      }
      String printed = Files.readString(output);
      assertThat(ended).as("ended within %s; it printed:%n%s", limit, printed).isTrue();
      assertThat(child.exitValue()).as("exit status; it printed:%n%s", printed).isZero();
      return printed;
    } finally {
      Files.delete(output);
    }
  }
}
