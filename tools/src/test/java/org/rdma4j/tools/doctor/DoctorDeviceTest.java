package org.rdma4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rdma4j.testing.Outcome;
import org.rdma4j.tools.testing.InThisJvm;
import org.rdma4j.tools.testing.TestDevice;

/** Examines a machine on which RDMA works. */
@Tag("device")
@Tag("kernel")
class DoctorDeviceTest {
  @Test
  void workingMachineHasNoProblem() {
    Outcome outcome = InThisJvm.run("doctor");

    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.out())
        .noneMatch(line -> line.startsWith("PROBLEM"))
        .anyMatch(line -> line.startsWith("OK       kernel: Linux "))
        .anyMatch(line -> line.matches("OK +libraries: /.*libibverbs.* of rdma-core \\d+\\.\\d+"))
        .anyMatch(line -> line.matches("OK +permissions: .*/dev/infiniband/uverbs\\d+.*"))
        .anyMatch(line -> line.startsWith("OK       providers: " + TestDevice.NAME + " has /"));
    assertThat(outcome.status()).isZero();
  }

  @Tag("needs-ip-gids")
  @Test
  void itFindsTheGidThatTheTestsUse() {
    assertThat(InThisJvm.run("doctor").out())
        .anyMatch(
            line ->
                line.startsWith("OK       %s port 1: use GID index ".formatted(TestDevice.NAME))
                    && line.contains(" index " + TestDevice.GID + ": ")
                    && line.contains(TestDevice.host()));
  }

  @Tag("needs-connecting-by-address")
  @Test
  void messagesGoThroughTheDevice() {
    assertThat(InThisJvm.run("doctor").out())
        .anyMatch(
            line ->
                line.matches(
                    "OK +%s port 1: 100 messages went through the device and back in \\d+ ms"
                        .formatted(TestDevice.NAME)));
  }

  @Test
  void aConnectionGoesThroughTheDevice() {
    assertThat(InThisJvm.run("doctor").out())
        .anyMatch(
            line ->
                line.matches(
                    "OK +%s: 100 messages went through a connection to %s and back in \\d+ ms"
                        .formatted(TestDevice.NAME, TestDevice.host())));
  }
}
