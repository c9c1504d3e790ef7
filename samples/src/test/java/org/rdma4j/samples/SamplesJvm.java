package org.rdma4j.samples;

import java.io.File;
import java.net.URL;
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

  /** Not that of this JVM, whose test launcher may have loaded the tests by a loader of its own. */
  private static String classPath(Class<?> main) throws Exception {
    List<String> entries = new ArrayList<>();
    for (Class<?> each :
        List.of(
            main,
            Main.class,
            RdmaDevice.class,
            Class.forName("org.rdma4j.bindings.generated.rdma_h"),
            CommandLine.class,
            Histogram.class)) {
      URL location = each.getProtectionDomain().getCodeSource().getLocation();
      entries.add(Path.of(location.toURI()).toString());
    }
    return String.join(File.pathSeparator, entries);
  }
}
