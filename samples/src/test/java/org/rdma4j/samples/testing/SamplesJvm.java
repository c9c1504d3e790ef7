package org.rdma4j.samples.testing;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.rdma4j.samples.Main;
import org.rdma4j.verbs.RdmaDevice;
import picocli.CommandLine;

/** The command that runs a program in another JVM. */
public final class SamplesJvm {
  private SamplesJvm() {}

  /** Returns the command that runs one of the programs. */
  public static List<String> command(String... args) throws Exception {
    return command(Main.class, args);
  }

  /** Returns the command that runs a class with a main method. */
  public static List<String> command(Class<?> main, String... args) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                // These two make the start twice as fast on an emulated processor.
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath(main),
                main.getName()));
    command.addAll(List.of(args));
    return command;
  }

  /** Removes what the JVM itself prints about its options. */
  public static Outcome withoutNoise(Outcome outcome) {
    return new Outcome(
        outcome.status(),
        outcome.out().stream().filter(line -> !line.startsWith("Picked up ")).toList(),
        outcome.err());
  }

  /**
   * Returns the class path of this JVM if it contains the program, which may then use the same
   * archive of classes. Otherwise a test launcher has loaded the program with its own loader.
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
