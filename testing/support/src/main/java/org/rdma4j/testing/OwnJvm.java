package org.rdma4j.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** Runs a program in a JVM of its own, which it may crash. */
public final class OwnJvm {
  /** A general protection fault at a jump to an address in the instruction itself. */
  private static final Pattern FAULT_AT_JUMP =
      Pattern.compile("(?s)si_code: 128 \\(SI_KERNEL\\).*?=>0x\\p{XDigit}+: +e9 ");

  private OwnJvm() {}

  /**
   * Runs a program, which must exit with status 0 in time. If the emulated processor of a guest
   * crashes the JVM, the program runs once more.
   *
   * @param main the class with the main method
   * @param limit the longest time that it may take
   * @param options options of the JVM
   * @param environment variables in addition to those of this process
   * @param arguments the arguments of the program, which a failure names
   * @return what it printed, errors included
   * @throws IOException if the JVM cannot be started
   * @throws InterruptedException if this thread is interrupted
   */
  public static String run(
      Class<?> main,
      Duration limit,
      List<String> options,
      Map<String, String> environment,
      String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:-CreateCoredumpOnCrash");
    command.add("-XX:ErrorFile=/dev/stderr");
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    Ended ended = run(command, limit, environment);
    if (isOfEmulator(ended.printed())) {
      System.out.println(
          "the emulated processor has crashed the JVM of %s: it runs once more (docs/guest.md)"
              .formatted(main.getSimpleName()));
      ended = run(command, limit, environment);
    }
    if (!"status 0".equals(ended.how())) {
      throw new AssertionError(
          "%s%s ended with %s; it printed:%n%s"
              .formatted(main.getSimpleName(), List.of(arguments), ended.how(), ended.printed()));
    }
    return ended.printed();
  }

  /** How a program ended. */
  private record Ended(String how, String printed) {}

  private static Ended run(List<String> command, Duration limit, Map<String, String> environment)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile("rdma4j-jvm", ".log");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
      builder.environment().putAll(environment);
      Process process = builder.start();
      boolean inTime;
      try {
        inTime = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
      } finally {
        process.destroyForcibly().onExit().join();
      }
      return new Ended(
          inTime ? "status " + process.exitValue() : "a kill, after " + limit,
          Files.readString(output));
    } finally {
      Files.delete(output);
    }
  }

  /**
   * Returns whether the emulated processor of a guest has crashed a JVM: it may run code that
   * another processor is just rewriting. The JVM makes a method invalid by a jump at its beginning,
   * and such a jump cannot fault on a processor. Any other crash is one of the program.
   */
  static boolean isOfEmulator(String printed) {
    return FAULT_AT_JUMP.matcher(printed).find();
  }
}
