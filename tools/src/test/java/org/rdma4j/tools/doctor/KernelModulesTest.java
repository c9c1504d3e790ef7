package org.rdma4j.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rdma4j.tools.doctor.FindingAssertions.assertOnly;
import static org.rdma4j.tools.doctor.FindingAssertions.assertOnlyFixed;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.tools.doctor.Finding.Level;

class KernelModulesTest {
  private static final String RELEASE = "6.1.0-18-amd64";
  private static final String MODULES = "/lib/modules/" + RELEASE;

  @TempDir Path root;
  private MachineFiles files;

  @BeforeEach
  void makeKernel() throws Exception {
    files = new MachineFiles(root).kernel(RELEASE).user(1000);
  }

  @Test
  void bothModulesAreFine() throws Exception {
    files.directory("/sys/class/infiniband_verbs").directory("/sys/class/misc/rdma_cm");
    assertOnly(check(), Level.OK, RELEASE);
  }

  @ParameterizedTest
  @CsvSource({
    "ib_uverbs, /sys/class/misc/rdma_cm",
    "rdma_ucm, /sys/class/infiniband_verbs",
  })
  void installedModuleIsToBeLoaded(String module, String classOfTheOther) throws Exception {
    files
        .directory(classOfTheOther)
        .file(
            MODULES + "/modules.dep", "kernel/drivers/infiniband/core/%s.ko.xz:".formatted(module));
    assertOnlyFixed("sudo modprobe " + module, check(), Level.PROBLEM, module, "not loaded");
  }

  @Test
  void rootNeedsNoSudo() throws Exception {
    files
        .user(0)
        .directory("/sys/class/misc/rdma_cm")
        .file(MODULES + "/modules.dep", "kernel/ib_uverbs.ko: kernel/ib_core.ko");
    assertOnlyFixed("modprobe ib_uverbs", check(), Level.PROBLEM);
  }

  @ParameterizedTest
  @CsvSource({
    "debian, '', sudo apt-get install linux-image-amd64",
    "ubuntu, debian, sudo apt-get install linux-modules-extra-$(uname -r)",
    "rocky, rhel centos fedora, sudo dnf install kernel-modules-extra-$(uname -r)",
    "opensuse-leap, suse opensuse, sudo zypper install kernel-default",
    "arch, '', install the packages with all modules of the kernel",
  })
  void kernelWithoutTheModuleIsToBeReplaced(String id, String like, String command)
      throws Exception {
    files
        .distribution(id, like)
        .directory("/sys/class/misc/rdma_cm")
        .file(MODULES + "/modules.dep", "kernel/net/my_ib_uverbs.ko:");
    assertOnlyFixed(
        command + ", start the machine with it, then: sudo modprobe ib_uverbs",
        check(),
        Level.PROBLEM,
        "has no module ib_uverbs");
  }

  @Test
  void containerCannotLoadModules() {
    assertThat(check())
        .hasSize(2)
        .allSatisfy(
            finding -> {
              assertThat(finding.level()).isEqualTo(Level.PROBLEM);
              assertThat(finding.fix()).startsWith("on the machine itself: sudo modprobe ");
            });
  }

  private List<Finding> check() {
    return KernelModules.check(files.machine());
  }
}
