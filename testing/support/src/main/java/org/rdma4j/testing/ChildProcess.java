package org.rdma4j.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A process whose output is stored in a file. */
public final class ChildProcess implements AutoCloseable {
  /**
   * Long enough for a JVM that starts while others run in an emulated guest. The system property
   * {@code org.rdma4j.testing.timeout} is another number of seconds, for larger programs.
   */
  public static final Duration TIMEOUT =
      Duration.ofSeconds(Integer.getInteger("org.rdma4j.testing.timeout", 150));

  private final Process process;
  private final Path output;

  private ChildProcess(Process process, Path output) {
    this.process = process;
    this.output = output;
  }

  /** Starts a process with an empty standard input. */
  public static ChildProcess start(List<String> command) {
    return start(command, "");
  }

  /** Starts a process with this text as its standard input. */
  public static ChildProcess start(List<String> command, String typed) {
    ChildProcess started = startToType(command);
    try (Writer input = started.process.outputWriter()) {
      input.write(typed);
    } catch (IOException failed) {
      started.close();
      throw new UncheckedIOException(failed);
    }
    return started;
  }

  /** Starts a process with a standard input that stays open, for {@link #type}. */
  public static ChildProcess startToType(List<String> command) {
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

  /** Writes a text to the standard input. */
  public void type(String text) throws IOException {
    process.outputWriter().append(text).flush();
  }

  /** Waits until the process ends, and returns its exit status and output. */
  public Outcome await() throws Exception {
    if (!process.waitFor(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new AssertionError("still running after printing " + Files.readString(output));
    }
    return new Outcome(process.exitValue(), Files.readAllLines(output), List.of());
  }

  /** Waits until the output contains a text, and returns all output so far. */
  public String awaitOutput(String text) throws Exception {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (true) {
      String all = Files.readString(output);
      if (all.contains(text)) {
        return all;
      }
      if (System.nanoTime() > deadline) {
        throw new AssertionError("no \"%s\" in its output: %s".formatted(text, all));
      }
      Thread.sleep(20);
    }
  }

  /** Waits for a whole line that starts with a text, and returns the rest of the line. */
  public String awaitLine(String beginning) throws Exception {
    String all = awaitOutput(beginning);
    int start = all.indexOf(beginning) + beginning.length();
    while (all.indexOf('\n', start) < 0) {
      Thread.sleep(20);
      all = awaitOutput(beginning);
    }
    return all.substring(start, all.indexOf('\n', start));
  }

  /** Returns whether the process runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Sends the process the signal that Ctrl-C sends. */
  public void interrupt() throws Exception {
    try (ChildProcess kill = start(List.of("kill", "-INT", Long.toString(process.pid())))) {
      if (kill.await().status() != 0) {
        throw new AssertionError("process " + process.pid() + " cannot be interrupted");
      }
    }
  }

  /** Kills the process and waits for its end. */
  public void kill() {
    process.destroyForcibly().onExit().join();
  }

  /**
   * Waits until a process of this machine listens on a TCP port. It does not connect to find out,
   * since the process may accept only one connection.
   */
  public static void awaitListening(int port) throws Exception {
    await(port, true);
  }

  /** Waits until a process of this machine listens on a port of the connection manager. */
  public static void awaitListeningCm(int port) throws Exception {
    String network = System.getenv("MLX5SIM_NETWORK");
    if (network != null) {
      awaitListeningOnSimulatedAdapter(Path.of(network, "ports"), port);
      return;
    }
    awaitShown("state LISTEN .*:" + port + "\\b", "rdma", "resource", "show", "cm_id");
  }

  /**
   * The file has a byte for each port, first those of RDMA_PS_TCP and then those of RDMA_PS_UDP;
   * bit 6 is set in listeners.
   */
  private static void awaitListeningOnSimulatedAdapter(Path ports, int port) throws Exception {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (!Files.exists(ports) || !listens(Files.readAllBytes(ports), port)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("nobody listens on RDMA port " + port);
      }
      Thread.sleep(20);
    }
  }

  private static boolean listens(byte[] ports, int port) {
    return ((ports[port] | ports[(1 << 16) + port]) & 0x40) != 0;
  }

  /** Waits until a network interface of this machine has joined a multicast group. */
  public static void awaitMember(String group) throws Exception {
    awaitShown("inet +" + Pattern.quote(group) + "\\b", "ip", "maddr");
  }

  private static void awaitShown(String pattern, String... command) throws Exception {
    Pattern wanted = Pattern.compile(pattern);
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
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
  public static void awaitAccepted(int port) throws Exception {
    await(port, false);
  }

  private static void await(int port, boolean listening) throws Exception {
    String local = ":%04X ".formatted(port);
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while ((isListening("/proc/net/tcp", local) || isListening("/proc/net/tcp6", local))
        != listening) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(
            (listening ? "nobody listens on TCP port " : "no client came to TCP port ") + port);
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
