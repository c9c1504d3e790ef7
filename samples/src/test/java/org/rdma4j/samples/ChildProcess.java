package org.rdma4j.samples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A program as a process of its own, whose output is kept in a file until it is asked for. */
final class ChildProcess implements AutoCloseable {
  /** A JVM that starts beside others in an emulated guest takes its time. */
  private static final long PATIENCE_SECONDS = 150;

  private final Process process;
  private final Path output;

  private ChildProcess(Process process, Path output) {
    this.process = process;
    this.output = output;
  }

  static ChildProcess start(List<String> command) {
    return start(command, "");
  }

  /** With that on its standard input, and no more. */
  static ChildProcess start(List<String> command, String typed) {
    ChildProcess started = startToType(command);
    try (Writer input = started.process.outputWriter()) {
      input.write(typed);
    } catch (IOException failed) {
      started.close();
      throw new UncheckedIOException(failed);
    }
    return started;
  }

  /** With a standard input that stays open, for {@link #type}. */
  static ChildProcess startToType(List<String> command) {
    try {
      Path output = Files.createTempFile("rdma4j-samples", ".out");
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        return new ChildProcess(process, output);
      } catch (IOException notStarted) {
        Files.delete(output);
        throw notStarted;
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  void type(String text) throws IOException {
    process.outputWriter().append(text).flush();
  }

  /** Runs to its end: the exit status and all it printed. */
  Outcome await() throws Exception {
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new AssertionError("still running, having printed " + Files.readString(output));
    }
    return new Outcome(process.exitValue(), Files.readAllLines(output), List.of());
  }

  /** Waits until it has printed a line with that. */
  void awaitOutput(String text) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!Files.readString(output).contains(text)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(
            "no \"%s\" in what it printed: %s".formatted(text, Files.readString(output)));
      }
      Thread.sleep(20);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Waits until a process of this machine listens: a connection to see would be the only one. */
  static void awaitListening(int port) throws Exception {
    await(port, true);
  }

  /** Waits until a process of this machine listens on a port of the connection manager. */
  static void awaitListeningCm(int port) throws Exception {
    awaitShown("state LISTEN .*:" + port + "\\b", "rdma", "resource", "show", "cm_id");
  }

  /** Waits until a network interface of this machine has joined a multicast group. */
  static void awaitMember(String group) throws Exception {
    awaitShown("inet +" + Pattern.quote(group) + "\\b", "ip", "maddr");
  }

  private static void awaitShown(String pattern, String... command) throws Exception {
    Pattern wanted = Pattern.compile(pattern);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    String shown;
    do {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(String.join(" ", command) + " does not show " + pattern);
      }
      Thread.sleep(20);
      try (ChildProcess show = start(List.of(command))) {
        shown = String.join("\n", show.await().out());
      }
    } while (!wanted.matcher(shown).find());
  }

  /** Waits until the server has accepted the only connection that it accepts. */
  static void awaitAccepted(int port) throws Exception {
    await(port, false);
  }

  private static void await(int port, boolean listening) throws Exception {
    String local = ":%04X ".formatted(port);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while ((isListening("/proc/net/tcp", local) || isListening("/proc/net/tcp6", local))
        != listening) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(
            (listening ? "nothing listens on" : "nobody came to") + " TCP port " + port);
      }
      Thread.sleep(20);
    }
  }

  private static boolean isListening(String table, String local) throws IOException {
    Path path = Path.of(table);
    if (!Files.exists(path)) {
      return false;
    }
    try (Stream<String> lines = Files.lines(path, StandardCharsets.US_ASCII)) {
      return lines.anyMatch(line -> line.matches("\\s*\\d+: \\p{XDigit}+" + local + "\\S+ 0A .*"));
    }
  }

  @Override
  public void close() {
    kill();
    try {
      Files.deleteIfExists(output);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
