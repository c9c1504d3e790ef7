package org.rdma4j.tools.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The files of a made-up machine, in a directory of a test. */
record MachineFiles(Path root) {
  private static final String RXE = "/sys/class/infiniband/rxe0";

  Machine machine() {
    return new Machine(root);
  }

  /** Writes a file. */
  MachineFiles file(String path, String text) throws IOException {
    Path file = root.resolve(path.substring(1));
    Files.createDirectories(file.getParent());
    Files.writeString(file, text + "\n");
    return this;
  }

  MachineFiles directory(String path) throws IOException {
    Files.createDirectories(root.resolve(path.substring(1)));
    return this;
  }

  /** Writes a symbolic link, which need not point to anything. */
  MachineFiles link(String path, String target) throws IOException {
    Path link = root.resolve(path.substring(1));
    Files.createDirectories(link.getParent());
    Files.createSymbolicLink(link, Path.of(target));
    return this;
  }

  MachineFiles kernel(String release) throws IOException {
    return file("/proc/sys/kernel/osrelease", release);
  }

  /** Sets the user of the process. */
  MachineFiles user(int id) throws IOException {
    return file("/proc/self/status", "Uid:\t%d\t%d\t%d\t%d\nCapEff:\t0".formatted(id, id, id, id));
  }

  MachineFiles distribution(String id, String like) throws IOException {
    return file("/etc/os-release", "ID=%s\nID_LIKE=\"%s\"".formatted(id, like));
  }

  /** Adds a network interface with these flags: 0x1002 if it is down, 0x1003 if it is up. */
  MachineFiles networkInterface(String name, String flags) throws IOException {
    String directory = "/sys/class/net/" + name;
    return file(directory + "/flags", flags)
        .file(directory + "/carrier", "1")
        .file(directory + "/mtu", "1500");
  }

  /** Adds soft-RoCE over an interface, with a port in this state and no GID. */
  MachineFiles softRoce(String networkInterface, String state) throws IOException {
    return file(RXE + "/parent", networkInterface)
        .file(RXE + "/ports/1/state", state)
        .file(RXE + "/ports/1/link_layer", "Ethernet");
  }

  /** Makes it an iWARP device. */
  MachineFiles iwarp() throws IOException {
    return file(RXE + "/node_type", "4: RNIC");
  }

  /** Adds a GID to it. */
  MachineFiles gid(int index, String gid, String type, String networkInterface) throws IOException {
    String port = RXE + "/ports/1";
    return file(port + "/gids/" + index, gid)
        .file(port + "/gid_attrs/types/" + index, type)
        .file(port + "/gid_attrs/ndevs/" + index, networkInterface);
  }

  /** Lets the process have a library loaded. */
  MachineFiles loaded(String... files) throws IOException {
    StringBuilder maps = new StringBuilder();
    for (String file : files) {
      maps.append("7f0000000000-7f0000001000 r-xp 00000000 00:01 42      %s%n".formatted(file));
    }
    return file("/proc/self/maps", maps.toString());
  }
}
