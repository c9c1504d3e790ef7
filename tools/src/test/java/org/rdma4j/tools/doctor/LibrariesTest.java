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
import org.rdma4j.verbs.RdmaAvailability;
import org.rdma4j.verbs.RdmaAvailability.Status;

class LibrariesTest {
  @TempDir Path root;
  private MachineFiles files;

  @BeforeEach
  void makeUser() throws Exception {
    files = new MachineFiles(root).user(1000).distribution("debian", "");
  }

  @Test
  void loadedLibrariesAreShownWithTheirRelease() throws Exception {
    files.loaded("/usr/lib64/libibverbs.so.1.14.44.0", "/usr/lib64/librdmacm.so.1.3.44.0");
    assertThat(check(Status.AVAILABLE))
        .containsExactly(
            Finding.ok("libraries", "/usr/lib64/libibverbs.so.1.14.44.0 of rdma-core 44.0"),
            Finding.ok("libraries", "/usr/lib64/librdmacm.so.1.3.44.0 of rdma-core 44.0"));
  }

  @Test
  void librariesOfTwoReleasesAreAWarning() throws Exception {
    files.loaded("/opt/libibverbs.so.1.14.51.0", "/usr/lib64/librdmacm.so.1.3.44.0");
    assertThat(check(Status.AVAILABLE))
        .contains(
            Finding.warning(
                "libraries",
                "libibverbs is of rdma-core 51.0, but librdmacm of 44.0",
                "sudo apt-get install libibverbs1 ibverbs-providers librdmacm1"));
  }

  @Test
  void libraryWithoutVersionIsShownWithoutOne() throws Exception {
    files.loaded("/build/lib/libibverbs.so.1");
    assertThat(check(Status.AVAILABLE))
        .containsExactly(Finding.ok("libraries", "/build/lib/libibverbs.so.1, no version"));
  }

  @ParameterizedTest
  @CsvSource({
    "debian, '', sudo apt-get install libibverbs1 ibverbs-providers librdmacm1",
    "linuxmint, ubuntu debian, sudo apt-get install libibverbs1 ibverbs-providers librdmacm1",
    "fedora, '', sudo dnf install libibverbs librdmacm",
    "opensuse-leap, suse opensuse, sudo zypper install libibverbs1 librdmacm1",
    "arch, '', install the packages libibverbs and librdmacm of rdma-core",
  })
  void missingLibraryIsToBeInstalled(String id, String like, String command) throws Exception {
    files.distribution(id, like);
    assertOnlyFixed(command, check(Status.NO_LIBRARY), Level.PROBLEM, "cannot be loaded");
  }

  @Test
  void deniedNativeAccessIsToBeAllowed() {
    assertOnlyFixed(
        "start java with --enable-native-access=ALL-UNNAMED",
        check(Status.NATIVE_ACCESS_DENIED),
        Level.PROBLEM,
        "this JVM does not allow");
  }

  private List<Finding> check(Status status) {
    return Libraries.check(files.machine(), new RdmaAvailability(status, List.of(), ""));
  }
}
