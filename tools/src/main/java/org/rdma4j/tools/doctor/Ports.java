package org.rdma4j.tools.doctor;

import java.util.ArrayList;
import java.util.List;

/** Checks that the ports of all devices are active, and says which GID to use. */
final class Ports {
  private final Machine machine;
  private final NetworkInterfaces interfaces;

  private Ports(Machine machine) {
    this.machine = machine;
    this.interfaces = new NetworkInterfaces(machine);
  }

  static List<Finding> check(Machine machine, List<KernelDevice> devices) {
    Ports ports = new Ports(machine);
    List<Finding> findings = new ArrayList<>();
    for (KernelDevice device : devices) {
      for (KernelDevice.Port port : device.ports()) {
        findings.add(ports.state(port));
        if (port.ethernet() && port.isActive() && !device.iwarp()) {
          findings.add(ports.gid(port));
        }
        if (device.isSoftRoce() && port.networkInterface().equals("lo")) {
          findings.add(ports.loopback(device));
        }
      }
    }
    return findings;
  }

  private Finding state(KernelDevice.Port port) {
    if (port.isActive()) {
      return Finding.ok(port.title(), "ACTIVE, " + link(port));
    }
    return Finding.problem(port.title(), port.state() + ", " + link(port), activate(port));
  }

  private String link(KernelDevice.Port port) {
    if (!port.ethernet()) {
      return "InfiniBand; connect queue pairs by LID, or with GID index 0";
    }
    String name = port.networkInterface();
    if (name.isEmpty()) {
      return "Ethernet, no network interface";
    }
    return "Ethernet, interface %s (%s, MTU %s)"
        .formatted(name, interfaces.isUp(name) ? "up" : "down", interfaces.mtu(name));
  }

  private String activate(KernelDevice.Port port) {
    String name = port.networkInterface();
    if (!port.ethernet()) {
      return port.state().equals("DOWN")
          ? "connect the cable, then look at: ibstat " + port.device()
          : "start a subnet manager on one machine of the fabric: "
              + machine.asRoot("systemctl start opensm");
    }
    if (!name.isEmpty() && !interfaces.isUp(name)) {
      return machine.asRoot("ip link set " + name + " up");
    }
    return "connect the cable, then look at: " + (name.isEmpty() ? "rdma link" : "ethtool " + name);
  }

  private Finding gid(KernelDevice.Port port) {
    return GidChoice.of(port.gids(), interfaces)
        .map(choice -> describe(port, choice))
        .orElseGet(
            () ->
                Finding.problem(
                    port.title(),
                    "no GID belongs to a network interface that is up, so no queue pair can be"
                        + " connected",
                    addAddress(port)));
  }

  private Finding describe(KernelDevice.Port port, GidChoice choice) {
    String text = "use GID index %d: %s".formatted(choice.gid().index(), choice.reason());
    return choice.worksEverywhere()
        ? Finding.ok(port.title(), text)
        : Finding.warning(port.title(), text, addAddress(port));
  }

  private String addAddress(KernelDevice.Port port) {
    String name = port.networkInterface().isEmpty() ? "INTERFACE" : port.networkInterface();
    return machine.asRoot("ip address add ADDRESS/24 dev " + name);
  }

  private Finding loopback(KernelDevice device) {
    String add = machine.asRoot("ip link add rdma0 type dummy");
    return Finding.warning(
        device.name(),
        "soft-RoCE over the interface lo works with the verbs, but the connection manager refuses"
            + " it (rdma_resolve_route fails with ENODEV)",
        add
            + ", give it an address, then: "
            + machine.asRoot("rdma link add rxe1 type rxe netdev rdma0"));
  }
}
