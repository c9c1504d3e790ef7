package org.rdma4j.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Runs programs for tests, such as the compiler. */
public final class Command {
  private static final int TIMEOUT_SECONDS = 60;

  private Command() {}

  /** Runs a program that must end with status 0, and returns what it prints on both streams. */
  public static String output(String... command) throws IOException, InterruptedException {
    return output(new ProcessBuilder(command));
  }

  /** Runs a program that must end with status 0, and returns what it prints on both streams. */
  public static String output(ProcessBuilder command) throws IOException, InterruptedException {
    Process process = command.redirectErrorStream(true).start();
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new AssertionError(command.command() + ", " + process + ": " + output);
      }
      return output;
    } finally {
      process.destroyForcibly();
    }
  }
}
