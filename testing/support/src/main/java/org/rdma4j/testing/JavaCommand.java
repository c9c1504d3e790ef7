package org.rdma4j.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command that runs a program in another JVM. */
public final class JavaCommand {
  private JavaCommand() {}

  /**
   * Returns the command, with the class path of this JVM.
   *
   * @param main the class with the main method
   * @param args the arguments of the program
   * @return the words of the command
   */
  public static List<String> of(Class<?> main, String... args) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                // These two make the start twice as fast on an emulated processor.
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
    command.addAll(List.of(args));
    return command;
  }
}
