package org.rdma4j.tools.devices;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.testing.ChildProcess;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.InThisJvm;

/** Compares the output with that of the programs in C. */
@Tag("device")
@Tag("c-programs")
@Tag("alone")
class DevInfoDeviceTest {
  @Test
  void devicesPrintsTheSameAsC() throws Exception {
    assertThat(InThisJvm.run("devices")).isEqualTo(c("ibv_devices"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-l", "-i 1", "--list"})
  void devinfoPrintsTheSameAsC(String options) throws Exception {
    List<String> args = options.isEmpty() ? List.of() : List.of(options.split(" "));
    List<String> command = new ArrayList<>(List.of("devinfo"));
    command.addAll(args);
    List<String> commandInC = new ArrayList<>(List.of("ibv_devinfo"));
    commandInC.addAll(args);

    assertThat(InThisJvm.run(command.toArray(new String[0])))
        .isEqualTo(c(commandInC.toArray(new String[0])));
  }

  /** The program in C also prints the attributes of ibv_query_device_ex. */
  @Test
  void verbosePrintsTheSameAsCExceptExtendedAttributes() throws Exception {
    List<String> lines = InThisJvm.run("devinfo", "-v").out();
    List<String> linesInC = c("ibv_devinfo", "-v").out();

    assertThat(linesInC).containsSubsequence(lines);
    assertThat(lines).anyMatch(line -> line.contains("local_ca_ack_delay"));
    assertThat(lines).anyMatch(line -> line.contains("num_comp_vectors"));
    assertThat(lines.stream().filter(line -> line.contains("GID[")).toList())
        .isEqualTo(linesInC.stream().filter(line -> line.contains("GID[")).toList());
  }

  private static Outcome c(String... command) throws Exception {
    try (ChildProcess process = ChildProcess.start(List.of(command))) {
      return process.await();
    }
  }
}
