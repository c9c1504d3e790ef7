package org.rdma4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.verbs.RdmaDevice;

/** A JVM whose dynamic linker finds no usable library. */
final class MissingLibraryTest {
  @Test
  void theExceptionNamesTheLibraryAndThePackages(@TempDir Path directory) throws Exception {
    // An empty file of that name hides the installed library, and cannot be loaded.
    Files.createFile(directory.resolve("libibverbs.so.1"));
    ProcessBuilder java =
        new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classPath(RdmaDevice.class, getClass(), org.rdma4j.bindings.inlines.Errno.class),
                Main.class.getName()));
    java.environment().put("LD_LIBRARY_PATH", directory.toString());
    String output = Command.output(java);

    assertThat(output)
        .contains("libibverbs.so.1")
        .contains("apt install libibverbs1")
        .contains("dnf install")
        .contains("zypper install");
    assertThat(output.lines()).hasSize(1);
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
        RdmaDevice.list();
        System.out.println("no exception");
      } catch (MissingLibraryException missing) {
        System.out.println(missing.library() + ": " + missing.getMessage());
      }
    }
  }
}
