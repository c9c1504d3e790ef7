package org.rdma4j.nio;

import static java.util.stream.Collectors.joining;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.RdmaDevice;

/**
 * Which RDMA devices and which peers channels use: {@code org.rdma4j.nio.devices}. A software
 * device sends its packets through the kernel, and the kernel carries TCP between processes of a
 * host without a network, so neither makes a channel faster.
 */
final class UsableDevices {
  static final String REMEDY = "set org.rdma4j.nio.devices to all to use RDMA even so";

  /** The vendors that the kernel gives as those of soft-RoCE (rxe) and of software iWARP (siw). */
  private static final Set<Integer> SOFTWARE = Set.of(0xffffff, 0x626d74);

  private final boolean all;

  /** The devices that channels use, as of the last check. */
  private volatile List<String> used = List.of();

  /** The devices that channels do not use, as of the last check. */
  private volatile List<String> software = List.of();

  /**
   * Creates it.
   *
   * @param all whether channels use software devices, and peers on this host
   */
  UsableDevices(boolean all) {
    this.all = all;
  }

  /** Returns whether the vendor of a device is that of a software device. */
  static boolean isSoftware(int vendor) {
    return SOFTWARE.contains(vendor);
  }

  /**
   * Checks that this machine has a device which channels use.
   *
   * @throws IllegalStateException if it has software devices only
   * @throws RdmaException if the devices cannot be listed
   */
  void check() {
    List<String> usable = new ArrayList<>();
    List<String> others = new ArrayList<>();
    for (DeviceInfo each : RdmaDevice.list()) {
      (all || !isSoftware(each) ? usable : others).add(each.name());
    }
    used = List.copyOf(usable);
    software = List.copyOf(others);
    if (usable.isEmpty() && !others.isEmpty()) {
      throw new IllegalStateException(
          "the only RDMA devices of this machine are software devices, which are slower than TCP: "
              + String.join(", ", others)
              + ": "
              + REMEDY);
    }
  }

  /** Returns what is used and what is not, and why, for a log. */
  String summary() {
    String names = used.isEmpty() ? "no device yet" : String.join(", ", used);
    if (all) {
      return names + ", also software devices and peers on this host";
    }
    return names
        + ", but not "
        + software.stream().map(each -> each + " (a software device), ").collect(joining())
        + "with peers on this host, because org.rdma4j.nio.devices is adapters";
  }

  /** A device that cannot be opened is no software device: its user gets the reason. */
  private static boolean isSoftware(DeviceInfo info) {
    try (RdmaDevice device = RdmaDevice.open(info.name())) {
      return isSoftware(device.attributes().vendorId());
    } catch (RdmaException unusable) {
      return false;
    }
  }

  /**
   * Returns whether a channel may use the device of a connection.
   *
   * @throws IllegalStateException if the connection is closed
   * @throws RdmaException if the device cannot be queried
   */
  boolean includeThatOf(RdmaConnection connection) {
    return all || !isSoftware(connection.domain().device().attributes().vendorId());
  }

  /** Returns the name of the device of a connection, for a log. */
  static String name(RdmaConnection connection) {
    return connection.domain().device().info().name();
  }

  /** Returns whether a peer that this side reaches from this address may be used. */
  boolean includePeer(InetAddress local, InetAddress peer) {
    // A process that names an address of its own host is given the same one to send from.
    return all || !local.equals(peer);
  }

  /** Returns whether a peer may be used. Asks the kernel for the addresses of this host. */
  boolean includePeer(InetAddress peer) {
    try {
      return all || NetworkInterface.getByInetAddress(peer) == null;
    } catch (SocketException unknown) {
      return true;
    }
  }
}
