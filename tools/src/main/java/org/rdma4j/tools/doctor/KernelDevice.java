package org.rdma4j.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A device that the kernel has, whether or not libibverbs lists it.
 *
 * @param name its name, such as {@code rxe0}
 * @param iwarp whether it is an iWARP device, whose GIDs mean nothing
 * @param driver its driver, if it is known
 * @param ports its ports
 */
record KernelDevice(String name, boolean iwarp, Optional<Driver> driver, List<Port> ports) {
  private static final String CLASS = "/sys/class/infiniband";
  private static final String IWARP = "4:"; // RDMA_NODE_RNIC
  private static final Pattern STATE = Pattern.compile("\\d+: (\\S+)");
  private static final String NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000";

  /**
   * A port of a device.
   *
   * @param device the name of the device
   * @param number its number, from 1
   * @param state its state, such as {@code ACTIVE}
   * @param ethernet whether its link is Ethernet rather than InfiniBand
   * @param networkInterface the network interface that it belongs to, empty if none is known
   * @param gids its GIDs
   */
  record Port(
      String device,
      int number,
      String state,
      boolean ethernet,
      String networkInterface,
      List<PortGid> gids) {
    boolean isActive() {
      return state.startsWith("ACTIVE");
    }

    String title() {
      return device + " port " + number;
    }
  }

  /** Returns the devices of the kernel. */
  static List<KernelDevice> all(Machine machine) {
    return machine.names(CLASS).stream().map(name -> of(machine, name)).toList();
  }

  /** Returns whether the driver is that of soft-RoCE. */
  boolean isSoftRoce() {
    return driver.filter(Driver.RXE::equals).isPresent();
  }

  private static KernelDevice of(Machine machine, String name) {
    String directory = CLASS + "/" + name;
    List<Port> ports = new ArrayList<>();
    for (String number : machine.names(directory + "/ports")) {
      ports.add(port(machine, name, directory, number));
    }
    boolean iwarp = machine.text(directory + "/node_type").startsWith(IWARP);
    return new KernelDevice(name, iwarp, driver(machine, directory), ports);
  }

  private static Optional<Driver> driver(Machine machine, String directory) {
    if (machine.exists(directory + "/device")) {
      return Driver.ofAdapter(machine.linkedName(directory + "/device/driver"));
    }
    // Only soft-RoCE has this file. The other software device is that of iWARP.
    return Optional.of(machine.exists(directory + "/parent") ? Driver.RXE : Driver.SIW);
  }

  private static Port port(Machine machine, String device, String directory, String number) {
    String port = directory + "/ports/" + number;
    Matcher state = STATE.matcher(machine.text(port + "/state"));
    List<PortGid> gids = gids(machine, port);
    return new Port(
        device,
        Integer.parseInt(number),
        state.matches() ? state.group(1) : "unknown",
        machine.text(port + "/link_layer").equals("Ethernet"),
        networkInterface(machine, directory, Integer.parseInt(number), gids),
        gids);
  }

  private static List<PortGid> gids(Machine machine, String port) {
    List<PortGid> gids = new ArrayList<>();
    List<Integer> indices =
        machine.names(port + "/gids").stream().map(Integer::valueOf).sorted().toList();
    for (int index : indices) {
      String gid = machine.text(port + "/gids/" + index);
      if (!gid.isEmpty() && !gid.equals(NO_GID)) {
        String attributes = port + "/gid_attrs/";
        gids.add(
            PortGid.of(
                index,
                gid,
                machine.text(attributes + "types/" + index),
                machine.text(attributes + "ndevs/" + index)));
      }
    }
    return gids;
  }

  private static String networkInterface(
      Machine machine, String directory, int port, List<PortGid> gids) {
    String parent = machine.text(directory + "/parent");
    if (!parent.isEmpty()) {
      return parent;
    }
    for (String name : machine.names(directory + "/device/net")) {
      String portOfInterface = machine.text(directory + "/device/net/" + name + "/dev_port");
      if (portOfInterface.isEmpty() || portOfInterface.equals(String.valueOf(port - 1))) {
        return name;
      }
    }
    return gids.isEmpty() ? "" : gids.get(0).networkInterface();
  }
}
