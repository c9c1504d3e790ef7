package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** A program that a test asks, such as the compiler. */
public final class Command {
  private Command() {}

  /** What it prints, both streams, once it has ended with status 0. */
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
