package org.rdma4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.tools.doctor.FindingAssertions.assertOnly;
import static org.rdma4j.tools.doctor.FindingAssertions.assertOnlyFixed;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.tools.doctor.Finding.Level;

class ProvidersTest {
  private static final String MLX5 = "/sys/class/infiniband/mlx5_0";

  @TempDir Path root;
  private MachineFiles files;

  @BeforeEach
  void loadLibrary() throws Exception {
    files =
        new MachineFiles(root)
            .user(1000)
            .distribution("debian", "")
            .loaded("/usr/lib/libibverbs.so.1.14.44.0");
  }

  @Test
  void providersOfAllDevicesAreShown() throws Exception {
    files
        .softRoce("eth0", "4: ACTIVE")
        .link(MLX5 + "/device/driver", "../drivers/mlx5_core")
        .file("/usr/lib/libibverbs/librxe-rdmav34.so", "")
        .file("/usr/lib/libibverbs/libmlx5-rdmav34.so", "");
    assertThat(check())
        .containsExactly(
            Finding.ok("providers", "mlx5_0 has /usr/lib/libibverbs/libmlx5-rdmav34.so"),
            Finding.ok("providers", "rxe0 has /usr/lib/libibverbs/librxe-rdmav34.so"));
  }

  @Test
  void missingProviderIsToBeInstalled() throws Exception {
    files
        .link(MLX5 + "/device/driver", "../drivers/mlx5_core")
        .file("/usr/lib/libibverbs/librxe-rdmav34.so", "");
    assertOnlyFixed(
        "sudo apt-get install ibverbs-providers",
        check(),
        Level.PROBLEM,
        "mlx5_0 has no provider: there is no libmlx5-rdmav*.so in /usr/lib/libibverbs");
  }

  @Test
  void unknownDriverIsNoted() throws Exception {
    files.link(MLX5 + "/device/driver", "../drivers/another");
    assertOnly(check(), Level.NOTE, "mlx5_0");
  }

  @Test
  void nothingIsSaidWithoutLibibverbs() throws Exception {
    files.softRoce("eth0", "4: ACTIVE").loaded();
    assertThat(check()).isEmpty();
  }

  private List<Finding> check() {
    return Providers.check(files.machine(), KernelDevice.all(files.machine()));
  }
}
