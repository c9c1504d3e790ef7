package org.rdma4j.samples;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.JavaCommand;
import org.rdma4j.testing.Outcome;

/** What all samples promise: each package can be read alone, and says what it lacks in one line. */
class SamplesTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .importUrl(Samples.class.getProtectionDomain().getCodeSource().getLocation());

  @Test
  void packagesDoNotDependOnEachOther() {
    slices().matching("org.rdma4j.samples.(*)..").should().notDependOnEachOther().check(CLASSES);
  }

  @Test
  void usageNamesTheSamples() throws Exception {
    try (ChildProcess program = ChildProcess.start(JavaCommand.of(Samples.class))) {
      Outcome outcome = program.await();

      assertThat(String.join("\n", outcome.out()))
          .contains("read-write-demo", "rcopy", "key-value", "loops");
      assertThat(outcome.status()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"rcopy a b c", "key-value a"})
  void wrongUsageIsReportedInOneLine(String args) throws Exception {
    try (ChildProcess program =
        ChildProcess.start(JavaCommand.of(Samples.class, args.split(" ")))) {
      Outcome outcome = program.await().withoutNoise();

      assertThat(outcome.out()).singleElement().asString().startsWith("usage: ");
      assertThat(outcome.status()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"read-write-demo", "rcopy .", "key-value", "key-value a b"})
  void missingLibraryIsReportedInOneLine(String args, @TempDir Path directory) throws Exception {
    // An empty file of that name hides the installed library, and cannot be loaded.
    Files.createFile(directory.resolve("libibverbs.so.1"));
    List<String> command = new ArrayList<>(List.of("env", "LD_LIBRARY_PATH=" + directory));
    command.addAll(JavaCommand.of(Samples.class, args.split(" ")));
    try (ChildProcess program = ChildProcess.start(command)) {
      Outcome outcome = program.await().withoutNoise();

      assertThat(outcome.out()).singleElement().asString().contains(": ", "libibverbs.so.1");
      assertThat(outcome.status()).isEqualTo(1);
    }
  }
}
