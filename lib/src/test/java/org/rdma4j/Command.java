package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Runs programs for tests, such as the compiler. */
public final class Command {
  private Command() {}

  /** Runs a program that must end with status 0, and returns what it prints on both streams. */
  public static String output(String... command) throws IOException, InterruptedException {
    return output(new ProcessBuilder(command));
  }

  static String output(ProcessBuilder command) throws IOException, InterruptedException {
    Process process = command.redirectErrorStream(true).start();
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).as("%s: %s", command.command(), output).isZero();
      return output;
    } finally {
      process.destroyForcibly();
    }
  }
}
