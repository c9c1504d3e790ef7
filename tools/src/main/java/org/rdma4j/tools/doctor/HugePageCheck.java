package org.rdma4j.tools.doctor;

import java.util.ArrayList;
import java.util.List;

/** Shows how many huge pages are reserved, for regions that are registered with them. */
final class HugePageCheck {
  private static final String SUBJECT = "huge pages";
  private static final String POOLS = "/sys/kernel/mm/hugepages";

  private HugePageCheck() {}

  static List<Finding> check(Machine machine) {
    List<String> reserved = new ArrayList<>();
    for (String pool : machine.names(POOLS)) {
      String total = machine.text(POOLS + "/" + pool + "/nr_hugepages");
      if (!total.isEmpty() && !total.equals("0")) {
        reserved.add(
            "%s of %s pages of %s are free"
                .formatted(
                    machine.text(POOLS + "/" + pool + "/free_hugepages"),
                    total,
                    pool.replace("hugepages-", "")));
      }
    }
    if (!reserved.isEmpty()) {
      return List.of(Finding.ok(SUBJECT, String.join(", ", reserved)));
    }
    return List.of(
        Finding.note(
            SUBJECT,
            "none are reserved; only regions with huge pages require them, reserve some with: "
                + (machine.isRoot() ? "" : "sudo ")
                + "sysctl vm.nr_hugepages=512"));
  }
}
