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

class DeviceCheckTest {
  private static final String ADAPTER = "/sys/bus/pci/devices/0000:3b:00.0";

  @TempDir Path root;
  private MachineFiles files;

  @BeforeEach
  void makeUser() throws Exception {
    files = new MachineFiles(root).user(1000);
  }

  @Test
  void machineWithoutDeviceIsToldHowToMakeOneOverAnInterfaceThatIsUp() throws Exception {
    files
        .networkInterface("lo", "0x9")
        .networkInterface("eth0", "0x1002")
        .networkInterface("eth1", "0x1003");
    assertOnlyFixed(
        "for a software device: sudo modprobe rdma_rxe && sudo rdma link add rxe0 type rxe netdev"
            + " eth1",
        check(),
        Level.PROBLEM,
        "no RDMA device");
  }

  @Test
  void devicesAreListed() throws Exception {
    files.softRoce("eth0", "4: ACTIVE");
    assertOnly(check(), Level.OK, "rxe0");
  }

  @Test
  void adapterWithoutRdmaDeviceIsAProblem() throws Exception {
    files.softRoce("eth0", "4: ACTIVE").link(ADAPTER + "/driver", "../drivers/mlx5_core");
    assertThat(check())
        .contains(
            Finding.problem(
                "devices",
                "adapter 0000:3b:00.0 (driver mlx5_core) has no RDMA device",
                "sudo modprobe mlx5_ib"));
  }

  @Test
  void adapterThatMayNotSupportRdmaIsAWarning() throws Exception {
    files.softRoce("eth0", "4: ACTIVE").link(ADAPTER + "/driver", "../drivers/i40e");
    assertThat(check())
        .anySatisfy(
            finding -> {
              assertThat(finding.level()).isEqualTo(Level.WARNING);
              assertThat(finding.fix()).isEqualTo("sudo modprobe irdma");
            });
  }

  @Test
  void adapterWithRdmaDeviceIsFine() throws Exception {
    files
        .softRoce("eth0", "4: ACTIVE")
        .link(ADAPTER + "/driver", "../drivers/mlx5_core")
        .directory(ADAPTER + "/infiniband/mlx5_0");
    assertOnly(check(), Level.OK);
  }

  @Test
  void infinibandAdapterWithoutDriverIsAProblem() throws Exception {
    files.softRoce("eth0", "4: ACTIVE").file(ADAPTER + "/class", "0x020700");
    assertThat(check())
        .contains(
            Finding.problem(
                "devices",
                "InfiniBand adapter 0000:3b:00.0 has no driver",
                "sudo modprobe \"$(cat " + ADAPTER + "/modalias)\""));
  }

  @Test
  void otherAdaptersAreIgnored() throws Exception {
    files
        .softRoce("eth0", "4: ACTIVE")
        .file(ADAPTER + "/class", "0x020000")
        .link(ADAPTER + "/driver", "../drivers/e1000e");
    assertOnly(check(), Level.OK);
  }

  private List<Finding> check() {
    return DeviceCheck.check(files.machine(), KernelDevice.all(files.machine()));
  }
}
