package org.rdma4j.tools.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.verbs.Port;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.GidType;

/** Finds the IP address of a device of this machine. */
public final class CmAddress {
  private CmAddress() {}

  /**
   * Returns an address with which the connection manager chooses a device: one of the network
   * interfaces, or of the GIDs of the device, and an IPv4 address if there is one.
   *
   * @param device the name of the device
   * @return the address; empty if none leads to the device
   */
  public static Optional<InetAddress> of(String device) {
    try {
      return Stream.concat(
              NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses),
              gids(device).stream())
          .filter(address -> !address.isLoopbackAddress() && leadsTo(address, device))
          .min(
              Comparator.comparing(InetAddress::isLinkLocalAddress)
                  .thenComparing(address -> !(address instanceof Inet4Address)));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static List<InetAddress> gids(String name) {
    try (RdmaDevice device = RdmaDevice.open(name)) {
      return device.ports().stream()
          .map(Port::gids)
          .flatMap(List::stream)
          .filter(entry -> entry.type() == GidType.ROCE_V2)
          .map(entry -> entry.gid().toInetAddress())
          // These lack the network interface that they need.
          .filter(address -> !address.isLinkLocalAddress())
          .toList();
    }
  }

  private static boolean leadsTo(InetAddress address, String device) {
    try (SynchronousCmId id = SynchronousCmId.open(PortSpace.TCP)) {
      id.id().bind(new InetSocketAddress(address, 0));
      return id.id().device().info().name().equals(device);
    } catch (RdmaException noDevice) {
      return false;
    }
  }
}
