package org.rdma4j.samples.first;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One of the first programs, in a JVM of its own. */
final class FirstProgram implements AutoCloseable {
  /** A JVM that starts in an emulated guest of a busy machine takes its time. */
  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(300);

  private final Process process;
  private final Path out;
  private final Path err;

  private FirstProgram(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  /** How a program ended, and the lines that it printed. */
  record Ended(int status, List<String> out, List<String> err) {}

  static FirstProgram start(String name, String... args) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                // These start twice as fast if the processor is emulated.
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                FirstProgram.class.getPackageName() + "." + name));
    command.addAll(List.of(args));
    Path out = Files.createTempFile("rdma4j-first", ".out");
    Path err = Files.createTempFile("rdma4j-first", ".err");
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    return new FirstProgram(process, out, err);
  }

  static Ended run(String name, String... args) throws Exception {
    try (FirstProgram program = start(name, args)) {
      return program.await();
    }
  }

  /** Waits until it has printed that. */
  void awaitOutput(String text) throws Exception {
    long start = System.nanoTime();
    while (!Files.readString(out).contains(text)) {
      if (!process.isAlive() || System.nanoTime() - start > TIMEOUT_NANOS) {
        throw new AssertionError("no \"" + text + "\" in " + printed());
      }
      Thread.sleep(20);
    }
  }

  /** Waits until it has ended. */
  Ended await() throws Exception {
    if (!process.waitFor(TIMEOUT_NANOS, TimeUnit.NANOSECONDS)) {
      throw new AssertionError("still running, having printed " + printed());
    }
    return new Ended(
        process.exitValue(),
        Files.readAllLines(out),
        // The JVM itself mentions the options that its environment adds.
        Files.readAllLines(err).stream().filter(line -> !line.startsWith("Picked up ")).toList());
  }

  private String printed() throws IOException {
    return Files.readString(out) + Files.readString(err);
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
    try {
      Files.delete(out);
      Files.delete(err);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
