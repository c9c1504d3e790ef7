package org.rdma4j.samples;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.rdma4j.verbs.RdmaDevice;
import picocli.CommandLine;

/** The command that runs a subcommand in a JVM of its own. */
final class SamplesJvm {
  private SamplesJvm() {}

  static List<String> command(String... args) throws Exception {
    return command(Main.class, args);
  }

  /** The command that runs another program than the subcommands. */
  static List<String> command(Class<?> main, String... args) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                // Starts twice as fast where the processor is emulated.
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath(main),
                main.getName()));
    command.addAll(List.of(args));
    return command;
  }

  /** What it printed, without what the JVM says of its own options. */
  static Outcome withoutNoise(Outcome outcome) {
    return new Outcome(
        outcome.status(),
        outcome.out().stream().filter(line -> !line.startsWith("Picked up ")).toList(),
        outcome.err());
  }

  /**
   * That of this JVM where it has the program: then the program may use the same archive of
   * classes. A test launcher may have loaded it by a loader of its own.
   */
  private static String classPath(Class<?> main) throws Exception {
    String own = System.getProperty("java.class.path");
    if (List.of(own.split(File.pathSeparator)).contains(location(main))) {
      return own;
    }
    List<String> entries = new ArrayList<>();
    for (Class<?> each :
        List.of(
            main,
            Main.class,
            RdmaDevice.class,
            Class.forName("org.rdma4j.bindings.generated.rdma_h"),
            CommandLine.class,
            Histogram.class)) {
      entries.add(location(each));
    }
    return String.join(File.pathSeparator, entries);
  }

  private static String location(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }
}
