package org.rdma4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.rdma4j.tools.Main;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.verbs.RdmaAvailability;

class DoctorTest {
  private static final RdmaAvailability NO_LIBRARY =
      new RdmaAvailability(RdmaAvailability.Status.NO_LIBRARY, List.of(), "");

  @TempDir Path directory;

  @Test
  void emptyMachineHasProblemsAndEachHasAFix() {
    List<Finding> findings = Doctor.filesOf(new Machine(directory), NO_LIBRARY);
    assertThat(findings)
        .filteredOn(finding -> finding.level() == Finding.Level.PROBLEM)
        .extracting(Finding::subject)
        .containsExactly("kernel", "kernel", "devices", "libraries");
    assertThat(findings)
        .filteredOn(finding -> finding.level() == Finding.Level.PROBLEM)
        .allSatisfy(finding -> assertThat(finding.fix()).isNotEmpty());
  }

  @ParameterizedTest
  @ValueSource(strings = {"libibverbs.so.1", "librdmacm.so.1"})
  void missingLibraryIsAProblemAmongTheOtherFindings(String library) throws Exception {
    // An empty file of that name hides the installed library, and cannot be loaded.
    Files.createFile(directory.resolve(library));
    List<String> command = new ArrayList<>(List.of("env", "LD_LIBRARY_PATH=" + directory));
    command.addAll(JavaCommand.of(Main.class, "doctor"));
    try (ChildProcess program = ChildProcess.start(command)) {
      Outcome outcome = program.await().withoutNoise();

      assertThat(outcome.out())
          .anyMatch(line -> line.startsWith("PROBLEM  libraries: ") && line.contains("; fix: "))
          .anyMatch(line -> line.matches("\\w+ +memlock: .*"))
          .allMatch(line -> line.matches("(OK|NOTE|WARNING|PROBLEM) +\\S.*: .*|.* problems?, .*"));
      assertThat(outcome.status()).isEqualTo(1);
    }
  }

  @Test
  void jsonHasTheSameFindings() {
    Outcome text = InThisJvm.run("doctor");
    Outcome json = InThisJvm.run("doctor", "--json");

    assertThat(json.err()).isEmpty();
    assertThat(json.out()).startsWith("{").endsWith("}");
    assertThat(json.out())
        .filteredOn(line -> line.contains("\"level\""))
        .hasSize(text.out().size() - 1);
    assertThat(json.status()).isEqualTo(text.status());
  }
}
