package org.rdma4j.samples.devices;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rdma4j.samples.testing.ChildProcess;
import org.rdma4j.samples.testing.Outcome;

/** Compares the output with that of the programs in C. */
@Tag("device")
@Tag("alone")
@Timeout(60)
class DevInfoDeviceTest {
  @Test
  void devicesIsThatOfC() throws Exception {
    assertThat(Outcome.of("devices")).isEqualTo(c("ibv_devices"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-l", "-i 1", "--list"})
  void devinfoIsThatOfC(String options) throws Exception {
    List<String> args = options.isEmpty() ? List.of() : List.of(options.split(" "));
    List<String> ours = new ArrayList<>(List.of("devinfo"));
    ours.addAll(args);
    List<String> theirs = new ArrayList<>(List.of("ibv_devinfo"));
    theirs.addAll(args);

    assertThat(Outcome.of(ours.toArray(new String[0]))).isEqualTo(c(theirs.toArray(new String[0])));
  }

  /** The program in C also prints the attributes of ibv_query_device_ex. */
  @Test
  void verboseIsThatOfCUpToTheExtendedAttributes() throws Exception {
    List<String> ours = Outcome.of("devinfo", "-v").out();
    List<String> theirs = c("ibv_devinfo", "-v").out();

    assertThat(theirs).containsSubsequence(ours);
    assertThat(ours).anyMatch(line -> line.contains("local_ca_ack_delay"));
    assertThat(ours).anyMatch(line -> line.contains("num_comp_vectors"));
    assertThat(ours.stream().filter(line -> line.contains("GID[")).toList())
        .isEqualTo(theirs.stream().filter(line -> line.contains("GID[")).toList());
  }

  private static Outcome c(String... command) throws Exception {
    try (ChildProcess process = ChildProcess.start(List.of(command))) {
      return process.await();
    }
  }
}
