package org.rdma4j.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.console.ConsoleLauncher;

/** Tests that hang end as failures which name them, because something outside the JVM ends it. */
@Timeout(120)
final class TestWatchTest {
  private static final int KILLED = 128 + 9;
  private static final int FAILED = 1;

  @TempDir private static Path folder;

  /** They hang at the same time, because this waits most of the time. */
  private static final Map<Class<?>, Process> RUNS = new HashMap<>();

  @BeforeAll
  static void start() throws IOException {
    for (Class<?> tests : HangingTests.class.getDeclaredClasses()) {
      RUNS.put(tests, start(tests));
    }
  }

  @AfterAll
  static void end() {
    RUNS.values().forEach(Process::destroyForcibly);
  }

  @Test
  void aTestThatHangsInANativeCallIsNamed() throws Exception {
    assertKilled(HangingTests.InNativeCall.class, ".neverReturns did not end within 3 seconds")
        .contains("HangingTests.pause(HangingTests.java");
  }

  @Test
  void aTestThatHangsInACriticalCallIsNamedThoughTheJvmDoesNotAnswer() throws Exception {
    assertKilled(HangingTests.InCriticalCall.class, ".neverReturns did not end within 3 seconds")
        .contains("The JVM did not print its threads");
  }

  @Test
  void aClassThatHangsOutsideItsTestsIsNamed() throws Exception {
    assertKilled(
        HangingTests.AfterTheTests.class, ", outside its tests did not end within 5 seconds");
  }

  @Test
  void aTestThatAnInterruptEndsFailsByItself() throws Exception {
    assertThat(run(HangingTests.InJava.class, FAILED))
        .contains("neverReturns() timed out after 2 seconds")
        .doesNotContain("is killed");
  }

  private AbstractStringAssert<?> assertKilled(Class<?> tests, String message)
      throws IOException, InterruptedException {
    assertThat(run(tests, KILLED)).contains(tests.getName() + message);
    try (var files = Files.newDirectoryStream(reports(tests), "TEST-*.xml")) {
      List<String> contents = new ArrayList<>();
      for (Path file : files) {
        contents.add(Files.readString(file));
      }
      assertThat(contents).hasSize(1);
      return assertThat(contents.getFirst())
          .contains("tests=\"1\"", "failures=\"1\"", tests.getName() + message);
    }
  }

  private static Process start(Class<?> tests) throws IOException {
    Path reports = Files.createDirectory(reports(tests));
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            ConsoleLauncher.class.getName(),
            "execute",
            "--select-class=" + tests.getName(),
            "--config=junit.jupiter.execution.timeout.default=4",
            "--reports-dir=" + reports)
        .redirectErrorStream(true)
        .redirectOutput(output(tests).toFile())
        .start();
  }

  private static Path reports(Class<?> tests) {
    return folder.resolve(tests.getSimpleName());
  }

  private static Path output(Class<?> tests) {
    return reports(tests).resolve("output");
  }

  private static String run(Class<?> tests, int status) throws IOException, InterruptedException {
    Process process = Objects.requireNonNull(RUNS.get(tests));
    assertThat(process.waitFor(50, TimeUnit.SECONDS)).isTrue();
    String printed = Files.readString(output(tests));
    assertThat(process.exitValue()).as(printed).isEqualTo(status);
    return printed;
  }
}
