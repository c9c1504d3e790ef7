package org.rdma4j.testing.headers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A C compiler of this machine, and the Debian package that contains it. */
public record Gcc(String command, String debianPackage) {
  public static final Gcc NATIVE = new Gcc("gcc", "gcc");
  public static final Gcc AARCH64 = new Gcc("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu");

  private static final long TIMEOUT_SECONDS = 60;

  /** What a command printed to stdout and stderr, and how it ended. */
  public record Result(int exitCode, List<String> output) {}

  /** Compiles, or fails the test with the messages of the compiler. */
  public void compile(String... arguments) {
    Result result = run(arguments);
    if (result.exitCode() != 0) {
      throw new AssertionError(String.join("\n", result.output()));
    }
  }

  /** Runs the compiler. */
  public Result run(String... arguments) {
    try {
      return execute(Stream.concat(Stream.of(command), Stream.of(arguments)).toList());
    } catch (IOException e) {
      throw new AssertionError(command + " does not start: install " + debianPackage, e);
    }
  }

  /** Runs a command, and returns its stdout and stderr together. */
  public static Result execute(List<String> command) throws IOException {
    Path output = Files.createTempFile("output", ".txt");
    try {
      // Messages are in English and in ASCII.
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.environment().put("LC_ALL", "C");
      Process process = builder.redirectOutput(output.toFile()).start();
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError(
            command
                + " is still running after "
                + TIMEOUT_SECONDS
                + " s: "
                + Files.readString(output));
      }
      return new Result(process.exitValue(), Files.readAllLines(output));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for " + command, e);
    } finally {
      Files.delete(output);
    }
  }
}
