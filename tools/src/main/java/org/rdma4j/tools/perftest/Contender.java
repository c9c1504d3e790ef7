package org.rdma4j.tools.perftest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rdma4j.tools.command.Failure;

/**
 * One of the two programs that are compared.
 *
 * @param name what it is called in the table
 * @param command the command and its options, without a server
 * @param port the TCP port that the server listens on
 * @param throughCm whether it listens on a port of the connection manager instead
 * @param pinned whether server and client each have a processor to themselves
 * @param limit how long one test may take
 */
record Contender(
    String name,
    List<String> command,
    int port,
    boolean throughCm,
    boolean pinned,
    Duration limit) {
  private static final long RETRY_MILLIS = 300;

  /** How long a server may take to listen: a JVM on an emulated processor is slow. */
  private static final Duration START = Duration.ofMinutes(1);

  /**
   * Runs the client, and unless a server is given also a server on this machine.
   *
   * @param server the host on which servers run in a loop, or null
   * @return the output of the client
   */
  List<String> run(@Nullable String server) throws InterruptedException {
    if (server != null) {
      return runClient(server, null);
    }
    Process started = start(List.of(), 0);
    try {
      if (!throughCm) {
        awaitListening(started);
      }
      List<String> output = runClient("localhost", started);
      if (!started.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
        throw new Failure("the server of %s did not end: %s".formatted(name, command));
      }
      return output;
    } finally {
      destroy(started);
    }
  }

  /** Tries again while no server listens yet. */
  private List<String> runClient(String host, @Nullable Process server)
      throws InterruptedException {
    long began = System.nanoTime();
    while (true) {
      Process client = start(List.of(host), 1);
      List<String> output;
      try {
        output = lines(client);
        if (!client.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
          throw new Failure(
              "%s did not end within %d s: %s".formatted(name, limit.toSeconds(), command));
        }
      } finally {
        destroy(client);
      }
      if (client.exitValue() == 0) {
        return output;
      }
      boolean late = System.nanoTime() - began > START.toNanos();
      if (late || (server != null && !server.isAlive())) {
        throw new Failure(
            "%s failed with status %d, and printed: %s (%s)"
                .formatted(
                    name,
                    client.exitValue(),
                    String.join(" | ", output),
                    String.join(" ", command)));
      }
      Thread.sleep(RETRY_MILLIS);
    }
  }

  private Process start(List<String> arguments, int processor) {
    List<String> all = new ArrayList<>();
    if (pinned) {
      all.addAll(List.of("taskset", "-c", String.valueOf(processor)));
    }
    all.addAll(command);
    all.addAll(arguments);
    try {
      ProcessBuilder builder = new ProcessBuilder(all).redirectErrorStream(true);
      if (arguments.isEmpty()) {
        builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
      }
      return builder.start();
    } catch (IOException missing) {
      throw new Failure(
          "cannot start %s (%s); install perftest, or give the directory of its programs in PATH"
              .formatted(all.get(0), missing.getMessage()),
          missing);
    }
  }

  private static List<String> lines(Process process) {
    try (Stream<String> lines = process.inputReader(StandardCharsets.UTF_8).lines()) {
      return lines.filter(line -> !line.startsWith("Picked up ")).toList();
    }
  }

  private void awaitListening(Process server) throws InterruptedException {
    long began = System.nanoTime();
    while (!isListening()) {
      if (!server.isAlive()) {
        throw new Failure(
            "the server of %s ended before it listened; run it alone to see why: %s"
                .formatted(name, String.join(" ", command)));
      }
      if (System.nanoTime() - began > START.toNanos()) {
        throw new Failure(
            "the server of %s does not listen on TCP port %d after %d s"
                .formatted(name, port, START.toSeconds()));
      }
      Thread.sleep(20);
    }
  }

  /** Does not connect to find out, because a server takes only one connection. */
  private boolean isListening() {
    String local = ".*:%04X [0-9A-F:]+ 0A .*".formatted(port);
    return Stream.of("/proc/net/tcp", "/proc/net/tcp6")
        .map(Path::of)
        .filter(Files::exists)
        .anyMatch(table -> contains(table, local));
  }

  private static boolean contains(Path table, String pattern) {
    try (Stream<String> lines = Files.lines(table, StandardCharsets.US_ASCII)) {
      return lines.anyMatch(line -> line.matches(pattern));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static void destroy(Process process) {
    if (process.isAlive()) {
      process.destroyForcibly();
    }
  }
}
