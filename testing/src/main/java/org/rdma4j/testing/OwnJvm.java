package org.rdma4j.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs a program in a JVM of its own, which it may crash. */
public final class OwnJvm {
  private OwnJvm() {}

  /**
   * Runs a program, which must exit with status 0 in time.
   *
   * @param main the class with the main method
   * @param limit the longest time that it may take
   * @param options options of the JVM
   * @param environment variables in addition to those of this process
   * @param arguments the arguments of the program, which a failure names
   * @return what it printed, errors included
   * @throws IOException if the JVM cannot be started
   * @throws InterruptedException if this thread is interrupted
   */
  public static String run(
      Class<?> main,
      Duration limit,
      List<String> options,
      Map<String, String> environment,
      String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:-CreateCoredumpOnCrash");
    command.add("-XX:ErrorFile=/dev/stderr");
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    Path output = Files.createTempFile("rdma4j-jvm", ".log");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
      builder.environment().putAll(environment);
      Process process = builder.start();
      boolean ended;
      try {
        ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
      } finally {
        process.destroyForcibly().onExit().join();
      }
      String printed = Files.readString(output);
      if (!ended || process.exitValue() != 0) {
        throw new AssertionError(
            "%s%s %s; it printed:%n%s"
                .formatted(
                    main.getSimpleName(),
                    List.of(arguments),
                    ended
                        ? "exited with status " + process.exitValue()
                        : "ran longer than " + limit,
                    printed));
      }
      return printed;
    } finally {
      Files.delete(output);
    }
  }
}
