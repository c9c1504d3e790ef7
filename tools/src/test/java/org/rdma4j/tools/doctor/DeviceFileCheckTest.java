package org.rdma4j.tools.doctor;

import static org.rdma4j.tools.doctor.FindingAssertions.assertOnly;
import static org.rdma4j.tools.doctor.FindingAssertions.assertOnlyFixed;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.tools.doctor.Finding.Level;

class DeviceFileCheckTest {
  private static final String UVERBS = "/dev/infiniband/uverbs0";

  @TempDir Path root;
  private MachineFiles files;

  @BeforeEach
  void makeDevice() throws Exception {
    files =
        new MachineFiles(root).user(1000).file("/sys/class/infiniband_verbs/uverbs0/ibdev", "rxe0");
  }

  @Test
  void filesThatOpenAreFine() throws Exception {
    files.directory("/sys/class/misc/rdma_cm").file(UVERBS, "").file("/dev/infiniband/rdma_cm", "");
    assertOnly(check(), Level.OK, UVERBS, "/dev/infiniband/rdma_cm");
  }

  @Test
  void missingFileIsAProblem() {
    assertOnlyFixed(
        "sudo udevadm trigger --action=add --sysname-match=uverbs0",
        check(),
        Level.PROBLEM,
        "there is no " + UVERBS + " of rxe0");
  }

  @Test
  void missingFileIsToBePassedIntoTheContainer() throws Exception {
    files.file("/.dockerenv", "");
    assertOnlyFixed(
        "start the container with --device=/dev/infiniband", check(), Level.PROBLEM, UVERBS);
  }

  /** A directory, which even root cannot open for writing. */
  @Test
  void fileThatIsRefusedInSpiteOfItsPermissionsIsAProblem() throws Exception {
    files.directory(UVERBS);
    assertOnlyFixed(
        "start the container with --device=/dev/infiniband",
        check(),
        Level.PROBLEM,
        "this user cannot open " + UVERBS + " of rxe0",
        "directory");
  }

  @Test
  void missingFileOfTheConnectionManagerIsAProblem() throws Exception {
    files.file(UVERBS, "").directory("/sys/class/misc/rdma_cm");
    assertOnlyFixed(
        "sudo udevadm trigger --action=add --sysname-match=rdma_cm",
        check().stream().filter(finding -> finding.level() != Level.OK).toList(),
        Level.PROBLEM,
        "/dev/infiniband/rdma_cm of the connection manager");
  }

  private List<Finding> check() {
    return DeviceFileCheck.check(files.machine());
  }
}
