package org.rdma4j.tools.doctor;

import static org.rdma4j.tools.doctor.FindingAssertions.assertOnly;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rdma4j.tools.doctor.Finding.Level;

class HugePageCheckTest {
  private static final String POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB";

  @TempDir Path root;

  @Test
  void reservedPagesAreCounted() throws Exception {
    Machine machine =
        new MachineFiles(root)
            .file(POOL + "/nr_hugepages", "512")
            .file(POOL + "/free_hugepages", "500")
            .machine();
    assertOnly(HugePageCheck.check(machine), Level.OK, "500 of 512 pages of 2048kB are free");
  }

  @Test
  void lackOfPagesIsNotedWithTheCommandThatReservesThem() throws Exception {
    Machine machine = new MachineFiles(root).user(1000).file(POOL + "/nr_hugepages", "0").machine();
    assertOnly(HugePageCheck.check(machine), Level.NOTE, "none", "sudo sysctl vm.nr_hugepages=");
  }
}
