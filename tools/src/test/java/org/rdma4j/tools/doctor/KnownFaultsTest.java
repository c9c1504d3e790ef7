package org.rdma4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.tools.doctor.FindingAssertions.assertOnlyFixed;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.tools.doctor.Finding.Level;

class KnownFaultsTest {
  @TempDir Path root;
  private MachineFiles files;

  @BeforeEach
  void makeUser() throws Exception {
    files = new MachineFiles(root).user(1000);
  }

  @ParameterizedTest
  @CsvSource({"4.7.0, 0", "4.8.0, 2", "5.13.19, 2", "5.14.0, 4", "6.1.0-18-amd64, 5", "6.10.3, 5"})
  void faultsOfSoftRoceDependOnTheKernel(String release, int faults) throws Exception {
    files.kernel(release).softRoce("eth0", "4: ACTIVE");
    assertThat(check())
        .hasSize(faults)
        .allSatisfy(finding -> assertThat(finding.text()).startsWith("soft-RoCE of Linux "));
  }

  @Test
  void crashOfTheKernelIsAWarningWithItsRange() throws Exception {
    files.kernel("6.1.0-18-amd64").softRoce("eth0", "4: ACTIVE");
    assertThat(check())
        .filteredOn(finding -> finding.level() == Level.WARNING)
        .singleElement()
        .extracting(Finding::text)
        .asString()
        .contains("soft-RoCE of Linux 6.1: ", "crashes the kernel", "(known from 5.14 on)");
  }

  @ParameterizedTest
  @CsvSource({"32.1, 0", "33.0, 1", "44.0, 1"})
  void faultsOfTheProviderDependOnRdmaCore(String release, int faults) throws Exception {
    files
        .kernel("4.7.0")
        .softRoce("eth0", "4: ACTIVE")
        .loaded("/usr/lib/libibverbs.so.1.11." + release);
    assertThat(check()).hasSize(faults);
  }

  @Test
  void otherDevicesHaveNoneOfThese() throws Exception {
    files
        .kernel("6.1.0")
        .loaded("/usr/lib/libibverbs.so.1.14.44.0")
        .link("/sys/class/infiniband/mlx5_0/device/driver", "../drivers/mlx5_core");
    assertThat(check()).isEmpty();
  }

  @Test
  void missingChecksumIsAProblemBeforeADeviceIsMade() throws Exception {
    files.kernel("6.1.0").directory("/sys/module/rdma_rxe").file("/proc/crypto", "name : crc32c");
    assertOnlyFixed(
        "sudo modprobe crc32_generic",
        check(),
        Level.PROBLEM,
        "'rdma link add' fails",
        "(known 4.12 to before 6.15)");
  }

  @ParameterizedTest
  @CsvSource({"6.15.0, crc32c", "6.1.0, crc32"})
  void checksumIsNotMissingInNewKernelsOrOnceLoaded(String release, String checksum)
      throws Exception {
    files
        .kernel(release)
        .directory("/sys/module/rdma_rxe")
        .file("/proc/crypto", "name         : " + checksum);
    assertThat(check()).isEmpty();
  }

  private List<Finding> check() {
    return KnownFaults.check(files.machine(), KernelDevice.all(files.machine()));
  }
}
