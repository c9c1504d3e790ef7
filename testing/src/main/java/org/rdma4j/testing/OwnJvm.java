package org.rdma4j.misuse;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program in a JVM of its own, which it may crash. */
final class OwnJvm {
  private OwnJvm() {}

  /**
   * Runs a program, which must exit with status 0.
   *
   * @param name what a failure is reported as
   * @param directory where its output is stored
   * @param options the options of its JVM
   * @return the output
   */
  static String run(
      String name,
      Class<?> main,
      Duration limit,
      Path directory,
      List<String> options,
      String... arguments)
      throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:-CreateCoredumpOnCrash");
    command.add("-XX:ErrorFile=/dev/stderr");
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(limit.toSeconds(), TimeUnit.SECONDS))
          .as("ended, %s:%n%s", name, Files.readString(output))
          .isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue())
        .as("exit status, %s:%n%s", name, Files.readString(output))
        .isZero();
    return Files.readString(output);
  }
}
