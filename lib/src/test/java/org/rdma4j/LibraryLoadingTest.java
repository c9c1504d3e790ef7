package org.rdma4j;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.bindings.Library;
import org.rdma4j.testing.Command;
import org.rdma4j.verbs.RdmaDevice;

/** How the libraries are loaded, and what calls throw if that fails. Each test starts a new JVM. */
final class LibraryLoadingTest {
  private static final String ALLOWED = "--enable-native-access=ALL-UNNAMED";
  private static final Path CLASSES = classes(RdmaDevice.class);
  private static final Path TEST_CLASSES = classes(LibraryLoadingTest.class);
  private static final Path BINDINGS = classes(Library.class);

  @ParameterizedTest
  @CsvSource({
    "libibverbs.so.1, libibverbs1 ibverbs-providers, libibverbs, libibverbs1",
    "librdmacm.so.1, librdmacm1, librdmacm, librdmacm1"
  })
  void everyEntryNamesTheMissingLibraryAndItsPackagesEveryTime(
      String library, String debian, String fedora, String suse, @TempDir Path directory)
      throws Exception {
    // The dynamic linker finds the empty file before the installed library, and cannot load it.
    Files.createFile(directory.resolve(library));
    ProcessBuilder java =
        onClassPath(List.of(ALLOWED), EntryPoints.class, CLASSES.toString(), "false");
    java.environment().put("LD_LIBRARY_PATH", directory.toString());

    expectEverywhere(
        java,
        "org.rdma4j.MissingLibraryException: dlopen(%s) failed. Install it: apt install %s (Debian, Ubuntu), dnf install %s (Fedora, RHEL), or zypper install %s (SUSE). If it is installed, LD_DEBUG=libs shows why it cannot be loaded"
            .formatted(library, debian, fedora, suse));
  }

  @Test
  void everyEntryNamesTheOptionOfTheClassPathEveryTime() throws Exception {
    expectDenial(
        onClassPath(denying("java.base"), EntryPoints.class, CLASSES.toString(), "true"),
        "ALL-UNNAMED");
  }

  @ParameterizedTest
  @ValueSource(strings = {"java.base", "org.rdma4j", "org.rdma4j.bindings"})
  void everyEntryNamesTheOptionOfTheModulePathEveryTime(String granted) throws Exception {
    expectDenial(
        onModulePath(denying(granted), EntryPoints.class, CLASSES.toString(), "true"),
        "org.rdma4j,org.rdma4j.bindings");
  }

  private static void expectDenial(ProcessBuilder java, String modules) throws Exception {
    List<String> lines = output(java);
    expectUnavailable(
        lines, "NATIVE_ACCESS_DENIED", "start java with --enable-native-access=" + modules);
    assertThat(lines)
        .filteredOn(line -> line.startsWith(EntryPoints.THROWN))
        .hasSizeGreaterThanOrEqualTo(26)
        .allSatisfy(
            line ->
                assertThat(line)
                    .matches(
                        EntryPoints.THROWN
                            + "org\\.rdma4j\\.RdmaException: native access failed\\. This JVM does not allow rdma4j to call C: start java with"
                            + " --enable-native-access="
                            + modules));
    expectNothingBroken(lines);
  }

  private static void expectEverywhere(ProcessBuilder java, String message) throws Exception {
    List<String> lines = output(java);
    assertThat(lines)
        .filteredOn(line -> line.startsWith(EntryPoints.THROWN))
        .hasSizeGreaterThanOrEqualTo(22)
        .containsOnly(EntryPoints.THROWN + message);
    expectUnavailable(lines, "NO_LIBRARY", message.substring(message.indexOf("dlopen")));
    expectNothingBroken(lines);
  }

  private static void expectUnavailable(List<String> lines, String status, String reason) {
    assertThat(lines)
        .filteredOn(line -> line.startsWith(EntryPoints.AVAILABILITY))
        .hasSize(2)
        .allSatisfy(
            line ->
                assertThat(line)
                    .startsWith(EntryPoints.AVAILABILITY + status + ": RDMA is not available. ")
                    .endsWith(reason));
  }

  private static void expectNothingBroken(List<String> lines) {
    assertThat(lines).filteredOn(line -> line.startsWith(EntryPoints.BROKEN)).isEmpty();
    assertThat(lines)
        .filteredOn(line -> line.startsWith(EntryPoints.CHECKED))
        .singleElement()
        .satisfies(
            line ->
                assertThat(Integer.parseInt(line.substring(EntryPoints.CHECKED.length())))
                    .isGreaterThan(2000));
  }

  @Test
  void bothModulesWithNativeAccessAreEnough() throws Exception {
    ProcessBuilder java = onModulePath(denying("org.rdma4j,org.rdma4j.bindings"), Lists.class, "1");
    assertThat(output(java)).contains("no exception");
  }

  /** In a JVM of its own: a device that was opened in this one would end ForkTest. */
  @Test
  void theAvailabilityOfThisMachineDependsOnItsDevices() throws Exception {
    String[] devices = Path.of("/sys/class/infiniband").toFile().list();
    boolean hasDevices = devices != null && devices.length != 0;
    String status =
        output(onClassPath(List.of(ALLOWED), Availability.class)).stream()
            .filter(line -> line.startsWith(EntryPoints.AVAILABILITY))
            .findFirst()
            .orElse("none was printed");
    if (hasDevices) {
      assertThat(status)
          .startsWith(EntryPoints.AVAILABILITY)
          .doesNotContain("NO_DEVICE", "NO_LIBRARY", "FAILED");
    } else {
      assertThat(status).isEqualTo(EntryPoints.AVAILABILITY + "NO_DEVICE");
    }
  }

  @Test
  void anotherListDoesNotLoadTheLibraryAgain() throws Exception {
    assertThat(openings(5)).isPositive().isEqualTo(openings(1));
  }

  private static long openings(int lists) throws Exception {
    ProcessBuilder java = onClassPath(List.of(ALLOWED), Lists.class, Integer.toString(lists));
    java.environment().put("LD_DEBUG", "files");
    return output(java).stream()
        .filter(line -> line.matches(".*opening file=.*/libibverbs\\.so\\.1 .*"))
        .count();
  }

  private static List<String> output(ProcessBuilder java) throws Exception {
    return Command.output(java).lines().toList();
  }

  /** Returns the options that allow these modules, and no others, to call C. */
  private static List<String> denying(String granted) {
    String option = "--enable-native-access=" + granted;
    // Before JDK 24, that option itself denied native access to the modules that it did not name.
    return Runtime.version().feature() < 24
        ? List.of(option)
        : List.of(option, "--illegal-native-access=deny");
  }

  private static ProcessBuilder onClassPath(
      List<String> options, Class<?> main, String... arguments) {
    return java(
        options,
        List.of("-cp", path(CLASSES, TEST_CLASSES, BINDINGS), main.getName()),
        List.of(arguments));
  }

  private static ProcessBuilder onModulePath(
      List<String> options, Class<?> main, String... arguments) {
    return java(
        options,
        List.of(
            "-p",
            path(CLASSES, BINDINGS),
            "--patch-module",
            "org.rdma4j=" + TEST_CLASSES,
            "-m",
            "org.rdma4j/" + main.getName()),
        List.of(arguments));
  }

  private static ProcessBuilder java(
      List<String> options, List<String> program, List<String> arguments) {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return new ProcessBuilder(
        Stream.of(List.of(java, "-XX:TieredStopAtLevel=1"), options, program, arguments)
            .flatMap(List::stream)
            .toList());
  }

  private static String path(Path... paths) {
    return Stream.of(paths)
        .map(Path::toString)
        .collect(joining(System.getProperty("path.separator")));
  }

  private static Path classes(Class<?> type) {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath());
  }

  /** A program that prints whether RDMA can be used. */
  static final class Availability {
    private Availability() {}

    public static void main(String[] arguments) {
      System.out.println(EntryPoints.AVAILABILITY + RdmaDevice.availability().status());
    }
  }

  /** A program that lists the devices several times. */
  static final class Lists {
    private Lists() {}

    public static void main(String[] arguments) {
      for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
        RdmaDevice.list();
      }
      System.out.println("no exception");
    }
  }
}
