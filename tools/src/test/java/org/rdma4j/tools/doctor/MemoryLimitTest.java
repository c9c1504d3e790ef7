package org.rdma4j.tools.doctor;

import static org.rdma4j.tools.doctor.FindingAssertions.assertOnly;
import static org.rdma4j.tools.doctor.FindingAssertions.assertOnlyFixed;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rdma4j.tools.doctor.Finding.Level;

class MemoryLimitTest {
  private static final String CAN_LOCK = "0000000000004000";
  private static final String CANNOT_LOCK = "ffffffffffffbfff";
  private static final String ALL_USERS = "         0          0 4294967295";

  private static final String RAISE =
      "echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/rdma.conf, then log in again;"
          + " in a systemd service: LimitMEMLOCK=infinity";

  @TempDir Path root;

  @Test
  void noLimitIsFine() throws Exception {
    assertOnly(check("unlimited", "unlimited", CANNOT_LOCK, ALL_USERS), Level.OK, "no limit");
  }

  @ParameterizedTest
  @CsvSource({"0, 0 KiB", "65536, 64 KiB", "2097151, 1 MiB"})
  void lowLimitIsAProblem(String bytes, String size) throws Exception {
    assertOnlyFixed(
        RAISE, check(bytes, bytes, CANNOT_LOCK, ALL_USERS), Level.PROBLEM, "may lock " + size);
  }

  @Test
  void higherLimitIsAWarning() throws Exception {
    assertOnlyFixed(
        RAISE, check("8388608", "8388608", CANNOT_LOCK, ALL_USERS), Level.WARNING, "8 MiB");
  }

  @Test
  void softLimitIsRaisedByTheUser() throws Exception {
    assertOnlyFixed(
        "ulimit -l unlimited", check("65536", "unlimited", CANNOT_LOCK, ALL_USERS), Level.PROBLEM);
  }

  @Test
  void limitOfContainerIsRaisedOutside() throws Exception {
    new MachineFiles(root).file("/run/.containerenv", "");
    assertOnlyFixed(
        "start the container with --ulimit memlock=-1",
        check("65536", "65536", CANNOT_LOCK, ALL_USERS),
        Level.PROBLEM);
  }

  @Test
  void capabilityLiftsTheLimit() throws Exception {
    assertOnly(check("65536", "65536", CAN_LOCK, ALL_USERS), Level.OK, "CAP_IPC_LOCK");
  }

  @Test
  void capabilityInAUserNamespaceDoesNotLiftTheLimit() throws Exception {
    assertOnlyFixed(RAISE, check("65536", "65536", CAN_LOCK, "0 1000 1"), Level.PROBLEM, "64 KiB");
  }

  @Test
  void unknownLimitIsNoted() {
    assertOnly(MemoryLimit.check(new Machine(root)), Level.NOTE, "/proc/self/limits");
  }

  private List<Finding> check(String soft, String hard, String capabilities, String users)
      throws Exception {
    return MemoryLimit.check(
        new MachineFiles(root)
            .file(
                "/proc/self/limits",
                "Limit                     Soft Limit           Hard Limit           Units\n"
                    + "Max locked memory         %-20s %-20s bytes".formatted(soft, hard))
            .file("/proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t" + capabilities)
            .file("/proc/self/uid_map", users)
            .machine());
  }
}
