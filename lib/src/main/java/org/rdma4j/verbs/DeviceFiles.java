package org.rdma4j.verbs;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.rdma4j.RdmaException;

/**
 * The kernel's files of RDMA devices. They show why libibverbs lists no device: it leaves out
 * devices whose file in {@code /dev/infiniband} does not exist, as in most containers, and devices
 * without an installed provider.
 *
 * @param classes the directory with an entry for each device that the kernel has
 * @param files the directory with the file of each device, {@code uverbs0} and so on
 */
record DeviceFiles(Path classes, Path files) {
  /** Returns those of this machine. */
  static DeviceFiles ofThisMachine() {
    return new DeviceFiles(Path.of("/sys/class/infiniband"), Path.of("/dev/infiniband"));
  }

  /** Returns whether the kernel has a device, which libibverbs may not list. */
  boolean kernelHasDevices() {
    return !names(classes).isEmpty();
  }

  /** Returns why libibverbs lists no device, and what to do. */
  String whyNoneIsListed() {
    String devices = String.join(", ", names(classes));
    if (devices.isEmpty()) {
      return "This machine has no RDMA device. 'rdma link' shows the devices, and 'rdma link add"
          + " rxe0 type rxe netdev eth0' creates a software device on the network interface eth0";
    }
    if (names(files).stream().noneMatch(name -> name.startsWith("uverbs"))) {
      return "The kernel has "
          + devices
          + ", but this process finds no file /dev/infiniband/uverbs*. Load the kernel module"
          + " ib_uverbs, allow this user to read /dev/infiniband, or pass it into the container";
    }
    return "The kernel has "
        + devices
        + ", but libibverbs lists none. Install the libraries of the providers (package"
        + " ibverbs-providers of Debian and Ubuntu, libibverbs of Fedora and SUSE), or pass the"
        + " right files of /dev/infiniband into the container";
  }

  /**
   * Returns the names in a directory; none if it does not exist.
   *
   * @throws RdmaException if it cannot be read, so that its content is unknown
   */
  private static List<String> names(Path directory) {
    List<String> names = new ArrayList<>();
    if (Files.isDirectory(directory)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
        entries.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
      } catch (IOException unreadable) {
        throw new RdmaException("opendir(" + directory + ")", 0, String.valueOf(unreadable));
      }
    }
    names.sort(null);
    return names;
  }
}
