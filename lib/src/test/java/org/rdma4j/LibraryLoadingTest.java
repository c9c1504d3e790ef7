package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.verbs.RdmaDevice;

/** What the dynamic linker does for JVMs of their own, which list the devices. */
final class LibraryLoadingTest {
  @Test
  void theExceptionNamesTheLibraryAndThePackages(@TempDir Path directory) throws Exception {
    // An empty file of that name hides the installed library, and cannot be loaded.
    Files.createFile(directory.resolve("libibverbs.so.1"));
    ProcessBuilder java = java(1);
    java.environment().put("LD_LIBRARY_PATH", directory.toString());
    String output = Command.output(java);

    assertThat(output)
        .contains("libibverbs.so.1")
        .contains("apt install libibverbs1")
        .contains("dnf install")
        .contains("zypper install");
    assertThat(output.lines()).hasSize(1);
  }

  @Test
  void aFurtherListHoldsTheLibraryNoMoreOften() throws Exception {
    assertThat(openings(5)).isPositive().isEqualTo(openings(1));
  }

  private static long openings(int lists) throws Exception {
    ProcessBuilder java = java(lists);
    java.environment().put("LD_DEBUG", "files");
    return Command.output(java)
        .lines()
        .filter(line -> line.matches(".*opening file=.*/libibverbs\\.so\\.1 .*"))
        .count();
  }

  private static ProcessBuilder java(int lists) {
    return new ProcessBuilder(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            classPath(
                RdmaDevice.class,
                LibraryLoadingTest.class,
                org.rdma4j.bindings.inlines.Errno.class),
            Main.class.getName(),
            Integer.toString(lists)));
  }

  private static String classPath(Class<?>... classes) {
    return String.join(
        System.getProperty("path.separator"),
        Arrays.stream(classes)
            .map(each -> each.getProtectionDomain().getCodeSource().getLocation().getPath())
            .toList());
  }

  /** What runs in that JVM. */
  static final class Main {
    private Main() {}

    public static void main(String[] arguments) {
      try {
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
          RdmaDevice.list();
        }
        System.out.println("no exception");
      } catch (MissingLibraryException missing) {
        System.out.println(missing.library() + ": " + missing.getMessage());
      }
    }
  }
}
