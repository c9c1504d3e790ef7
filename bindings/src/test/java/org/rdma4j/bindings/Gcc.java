package org.rdma4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A C compiler of this machine, and the Debian package that contains it. */
record Gcc(String command, String debianPackage) {
  static final Gcc NATIVE = new Gcc("gcc", "gcc");
  static final Gcc AARCH64 = new Gcc("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu");

  /** Includes the headers that jextract read. */
  static final String HEADERS =
      """
      #include "%s"
      #include <stddef.h>
      #include <stdint.h>
      """
          .formatted(Path.of("jextract", "rdma.h").toAbsolutePath());

  private static final long TIMEOUT_SECONDS = 60;

  record Result(int exitCode, List<String> output) {}

  /** Compiles, or fails the test with the messages of the compiler. */
  void compile(String... arguments) {
    Result result = run(arguments);
    assertThat(result.exitCode()).as(String.join("\n", result.output())).isZero();
  }

  Result run(String... arguments) {
    try {
      return execute(Stream.concat(Stream.of(command), Stream.of(arguments)).toList());
    } catch (IOException e) {
      return fail(command + " does not start: install the package " + debianPackage, e);
    }
  }

  /** Runs a command, and returns its stdout and stderr together. */
  static Result execute(List<String> command) throws IOException {
    Path output = Files.createTempFile("output", ".txt");
    try {
      // Messages are in English and in ASCII.
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.environment().put("LC_ALL", "C");
      Process process = builder.redirectOutput(output.toFile()).start();
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        fail(
            command
                + " is still running after "
                + TIMEOUT_SECONDS
                + " s: "
                + Files.readString(output));
      }
      return new Result(process.exitValue(), Files.readAllLines(output));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return fail("Interrupted while waiting for " + command, e);
    } finally {
      Files.delete(output);
    }
  }
}
