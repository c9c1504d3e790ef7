package org.rdma4j.samples.first;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.rdma4j.verbs.RdmaDevice;

/** What the first programs promise to those who read them, and to those who have no device. */
class FirstSamplesTest {
  private static final int MAX_LINES = 130;
  private static final Path FOLDER = Path.of("src/main/java/org/rdma4j/samples/first");

  static final List<String> PROGRAMS =
      List.of(
          "SendAndReceive",
          "RcPingPong",
          "WriteAndRead",
          "Atomics",
          "CompletionEvents",
          "CmEcho",
          "ConnectionEcho");

  @Test
  void nothingIsSharedBetweenThem() throws Exception {
    try (Stream<Path> files = Files.list(FOLDER)) {
      assertThat(files.map(file -> file.getFileName().toString().replace(".java", "")))
          .containsAll(PROGRAMS)
          .hasSize(PROGRAMS.size() + 1)
          .contains("package-info");
    }
  }

  @Test
  void thePackageNamesThemInTheirOrder() throws Exception {
    assertThat(Files.readString(FOLDER.resolve("package-info.java")))
        .containsSubsequence(
            PROGRAMS.stream()
                .map(program -> "{@link org.rdma4j.samples.first." + program)
                .toList());
  }

  @ParameterizedTest
  @FieldSource("PROGRAMS")
  void aProgramIsShort(String program) throws Exception {
    assertThat(source(program))
        .filteredOn(line -> !line.isEmpty() && !line.matches("(package|import) .*"))
        .hasSizeLessThanOrEqualTo(MAX_LINES);
  }

  @ParameterizedTest
  @FieldSource("PROGRAMS")
  void aProgramUsesNoOtherSample(String program) throws Exception {
    assertThat(source(program))
        .contains("public final class " + program + " {")
        .filteredOn(line -> line.startsWith("import "))
        .allMatch(line -> line.matches("import (static )?(java|org\\.rdma4j)\\..*"));
    assertThat(source(program).stream().skip(1))
        .filteredOn(line -> !isComment(line))
        .noneMatch(line -> line.contains("org.rdma4j.samples"))
        .noneMatch(
            line ->
                PROGRAMS.stream()
                    .anyMatch(other -> !other.equals(program) && line.contains(other)));
  }

  @ParameterizedTest
  @FieldSource("PROGRAMS")
  void aProgramSaysHowToRunIt(String program) throws Exception {
    assertThat(String.join("\n", source(program)))
        .contains(
            " * java --enable-native-access=ALL-UNNAMED -cp samples/target/rdma4j-samples.jar \\\n"
                + " *   org.rdma4j.samples.first."
                + program
                + " [");
  }

  @ParameterizedTest
  @FieldSource("PROGRAMS")
  void aMissingDeviceIsReportedInOneLine(String program) throws Exception {
    boolean hasDevice = !RdmaDevice.list().isEmpty();
    FirstProgram.Ended ended =
        FirstProgram.run(program, hasDevice ? unusable(program) : new String[0]);
    assertThat(ended.err())
        .singleElement()
        .asString()
        .startsWith(program + ": ")
        .containsPattern(hasDevice ? "failed" : "This machine has no RDMA device");
    assertThat(ended.out()).isEmpty();
    assertThat(ended.status()).isEqualTo(1);
  }

  @Test
  void anUnknownDeviceIsReportedInOneLine() throws Exception {
    FirstProgram.Ended ended = FirstProgram.run("SendAndReceive", "nosuchdevice0");
    assertThat(ended.err())
        .singleElement()
        .asString()
        .startsWith("SendAndReceive: ibv_open_device(nosuchdevice0) failed: ENODEV");
    assertThat(ended.status()).isEqualTo(1);
  }

  /** Arguments by which a program finds no device, or no server, although there is a device. */
  private static String[] unusable(String program) {
    return switch (program) {
      case "RcPingPong" -> new String[] {"localhost", "nosuchdevice0"};
      case "CmEcho", "ConnectionEcho" -> new String[] {"127.0.0.1"};
      default -> new String[] {"nosuchdevice0"};
    };
  }

  private static List<String> source(String program) throws IOException {
    return Files.readAllLines(FOLDER.resolve(program + ".java"));
  }

  private static boolean isComment(String line) {
    return line.strip().startsWith("//")
        || line.strip().startsWith("*")
        || line.strip().startsWith("/*");
  }
}
