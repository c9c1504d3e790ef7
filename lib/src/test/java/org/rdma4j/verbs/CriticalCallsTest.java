package org.rdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which devices get critical calls, by what sysfs shows of them. */
final class CriticalCallsTest {
  @TempDir private Path sysfs;

  /** Makes the links of sysfs: class/infiniband/NAME, whose link device has a link driver. */
  private Path device(String driver) throws IOException {
    Path drivers = Files.createDirectories(sysfs.resolve("bus/pci/drivers").resolve(driver));
    Path adapter = Files.createDirectories(sysfs.resolve("devices/pci0000/0000:01:00.0"));
    Files.createSymbolicLink(adapter.resolve("driver"), adapter.relativize(drivers));
    Path device = Files.createDirectories(sysfs.resolve("class/infiniband/any0"));
    Files.createSymbolicLink(device.resolve("device"), device.relativize(adapter));
    return device;
  }

  @ParameterizedTest
  @CsvSource({"mlx5_core, true", "efa, true", "hfi1, false", "ib_qib, false"})
  void anAdapterGetsThemUnlessItsProviderPostsThroughTheKernel(String driver, boolean critical)
      throws IOException {
    assertThat(CriticalCalls.chosenFor(device(driver), null)).isEqualTo(critical);
  }

  @Test
  void aSoftwareDeviceHasNoDriverAndDoesNotGetThem() {
    assertThat(CriticalCalls.chosenFor(sysfs, null)).isFalse();
  }

  @Test
  void theSystemPropertyOverridesThat() throws IOException {
    assertThat(CriticalCalls.chosenFor(device("mlx5_core"), "plain")).isFalse();
    assertThat(CriticalCalls.chosenFor(sysfs, "critical")).isTrue();
    assertThatThrownBy(() -> CriticalCalls.chosenFor(sysfs, "fast"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the system property org.rdma4j.calls is 'fast', must be plain or critical");
  }
}
