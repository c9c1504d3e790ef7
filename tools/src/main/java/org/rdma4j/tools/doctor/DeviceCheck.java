package org.rdma4j.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Checks that the kernel has an RDMA device for each adapter, or any device at all. */
final class DeviceCheck {
  private static final String SUBJECT = "devices";
  private static final String ADAPTERS = "/sys/bus/pci/devices";
  private static final String INFINIBAND_CONTROLLER = "0x0207";

  private final Machine machine;

  private DeviceCheck(Machine machine) {
    this.machine = machine;
  }

  static List<Finding> check(Machine machine, List<KernelDevice> devices) {
    return new DeviceCheck(machine).findings(devices);
  }

  private List<Finding> findings(List<KernelDevice> devices) {
    List<Finding> findings = new ArrayList<>();
    for (String adapter : machine.names(ADAPTERS)) {
      idle(adapter).ifPresent(findings::add);
    }
    if (devices.isEmpty()) {
      findings.add(
          Finding.problem(SUBJECT, "the kernel has no RDMA device", createSoftwareDevice()));
    } else {
      findings.add(
          Finding.ok(
              SUBJECT, devices.stream().map(KernelDevice::name).collect(Collectors.joining(", "))));
    }
    return findings;
  }

  /** Returns a finding for an adapter that could do RDMA, but has no RDMA device. */
  private Optional<Finding> idle(String adapter) {
    String directory = ADAPTERS + "/" + adapter;
    if (machine.exists(directory + "/infiniband")) {
      return Optional.empty();
    }
    String bus = machine.linkedName(directory + "/driver");
    Optional<Driver> driver = Driver.ofAdapter(bus);
    if (driver.isPresent()) {
      String module = driver.get().module();
      String text = "adapter %s (driver %s) has no RDMA device".formatted(adapter, bus);
      String load = machine.asRoot("modprobe " + module);
      return Optional.of(
          driver.get().always()
              ? Finding.problem(SUBJECT, text, load)
              : Finding.warning(SUBJECT, text + "; some models can do RDMA", load));
    }
    if (bus.isEmpty() && machine.text(directory + "/class").startsWith(INFINIBAND_CONTROLLER)) {
      return Optional.of(
          Finding.problem(
              SUBJECT,
              "InfiniBand adapter %s has no driver".formatted(adapter),
              machine.asRoot(
                  "modprobe \"$(cat /sys/bus/pci/devices/%s/modalias)\"".formatted(adapter))));
    }
    return Optional.empty();
  }

  private String createSoftwareDevice() {
    return "for a software device: "
        + machine.asRoot("modprobe rdma_rxe")
        + " && "
        + machine.asRoot(
            "rdma link add rxe0 type rxe netdev "
                + new NetworkInterfaces(machine).first().orElse("eth0"));
  }
}
