package org.rdma4j.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Checks that the kernel has the modules that every program needs. */
final class KernelModules {
  private static final String SUBJECT = "kernel";

  private final Machine machine;
  private final String directory;

  private KernelModules(Machine machine) {
    this.machine = machine;
    this.directory = "/lib/modules/" + machine.kernelRelease();
  }

  static List<Finding> check(Machine machine) {
    return new KernelModules(machine).findings();
  }

  private List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    // What a module makes shows that it is there, even if it is built into the kernel.
    if (!machine.exists("/sys/class/infiniband_verbs")) {
      findings.add(missing("ib_uverbs", "without it no program can use a device"));
    }
    if (!machine.exists("/sys/class/misc/rdma_cm")) {
      findings.add(missing("rdma_ucm", "without it the connection manager does not work"));
    }
    if (findings.isEmpty()) {
      findings.add(
          Finding.ok(SUBJECT, "Linux " + machine.kernelRelease() + " with ib_uverbs and rdma_ucm"));
    }
    return findings;
  }

  private Finding missing(String module, String consequence) {
    String load = "modprobe " + module;
    if (!machine.exists(directory)) {
      return Finding.problem(
          SUBJECT,
          "module %s is not loaded; %s; there is no %s, as in a container"
              .formatted(module, consequence, directory),
          "on the machine itself: sudo " + load);
    }
    if (isInstalled(module)) {
      return Finding.problem(
          SUBJECT, "module %s is not loaded; %s".formatted(module, consequence), root(load));
    }
    return Finding.problem(
        SUBJECT,
        "Linux %s has no module %s; %s".formatted(machine.kernelRelease(), module, consequence),
        Distribution.of(machine).installModules(machine)
            + ", start the machine with it, then: "
            + root(load));
  }

  private boolean isInstalled(String module) {
    return Stream.of("/modules.dep", "/modules.builtin")
        .flatMap(list -> machine.lines(directory + list).stream())
        .anyMatch(line -> line.matches("\\S*/" + module + "\\.ko(\\.\\w+)?(:.*)?"));
  }

  private String root(String command) {
    return machine.asRoot(command);
  }
}
