package org.rdma4j.endpoint;

import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.rdma4j.ErrorNumber;
import org.rdma4j.RdmaException;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.GidEntry;
import org.rdma4j.verbs.address.GidType;
import org.rdma4j.verbs.attribute.LinkLayer;
import org.rdma4j.verbs.attribute.PortAttributes;
import org.rdma4j.verbs.attribute.PortState;
import org.rdma4j.verbs.attribute.TransportType;

/**
 * The port at which an endpoint attaches to the network.
 *
 * @param device the open device
 * @param port the number of the port
 * @param gidIndex the index of the GID; {@link PathConfig#NO_GID} for none
 */
record LocalPort(RdmaDevice device, int port, int gidIndex) {
  private static final System.Logger LOG = System.getLogger("org.rdma4j");
  private static final String CALL = "looking for an active port";

  /**
   * Opens the configured device, or by default the first one of InfiniBand or RoCE that has an
   * active port. The queue pairs of an iWARP device can only be connected by the connection
   * manager.
   *
   * @throws IllegalArgumentException if there is no such port or GID
   * @throws RdmaException if there is no such device, it cannot be used for endpoints, no port is
   *     active, or a device cannot be opened
   */
  static LocalPort open(EndpointConfig config) {
    List<DeviceInfo> all = RdmaDevice.list();
    List<String> names =
        config
            .device()
            .map(List::of)
            .orElseGet(() -> usable(all).stream().map(DeviceInfo::name).toList());
    for (String name : names) {
      RdmaDevice device = RdmaDevice.open(name);
      try {
        if (usable(List.of(device.info())).isEmpty()) {
          throw unusable(List.of(device.info()));
        }
        OptionalInt port = activePort(device, config.port());
        if (port.isPresent()) {
          LocalPort chosen =
              new LocalPort(
                  device, port.getAsInt(), gidIndex(device, port.getAsInt(), config.gidIndex()));
          LOG.log(System.Logger.Level.DEBUG, "the endpoint uses {0}", chosen);
          return chosen;
        }
      } catch (RuntimeException failed) {
        device.close();
        throw failed;
      }
      device.close();
    }
    throw names.isEmpty() && !all.isEmpty() ? unusable(all) : noActivePort(config, names);
  }

  /** Returns those of the devices on which a program can connect queue pairs by their addresses. */
  static List<DeviceInfo> usable(List<DeviceInfo> devices) {
    return devices.stream()
        .filter(device -> device.transport() == TransportType.INFINIBAND)
        .toList();
  }

  /** Returns the exception for a machine that has only such devices. */
  static RdmaException unusable(List<DeviceInfo> devices) {
    return new RdmaException(
        CALL,
        0,
        "An endpoint requires a device of InfiniBand or RoCE, and this machine offers "
            + devices.stream()
                .map(device -> device.name() + " (" + device.transport() + ")")
                .collect(Collectors.joining(", "))
            + ": use an RdmaConnection, which connects over iWARP too");
  }

  private static RdmaException noActivePort(EndpointConfig config, List<String> devices) {
    if (devices.isEmpty()) {
      return new RdmaException(
          CALL, ErrorNumber.ENODEV.value(), RdmaDevice.availability().explanation());
    }
    String names = String.join(", ", devices);
    return new RdmaException(
        CALL,
        0,
        (config.port().isPresent()
                ? "Port " + config.port().getAsInt() + " of " + names + " is not active"
                : "No port of " + names + " is active")
            + "; check its cable and its network interface (rdma link shows the state)");
  }

  private static OptionalInt activePort(RdmaDevice device, OptionalInt configured) {
    int ports = device.attributes().ports();
    int first = configured.orElse(1);
    for (int port = first; port <= configured.orElse(ports); port++) {
      PortState state = device.port(port).attributes().state();
      if (state == PortState.ACTIVE || state == PortState.ACTIVE_DEFER) {
        return OptionalInt.of(port);
      }
    }
    return OptionalInt.empty();
  }

  private static int gidIndex(RdmaDevice device, int port, OptionalInt configured) {
    PortAttributes attributes = device.port(port).attributes();
    List<GidEntry> gids = device.port(port).gids();
    if (configured.isEmpty()) {
      return gidIndex(gids, attributes.linkLayer())
          .orElseThrow(
              () ->
                  new RdmaException(
                      "looking for a GID of port %d of %s".formatted(port, device.info().name()),
                      0,
                      "The port has no GID; give its network interface an address"));
    }
    int index = configured.getAsInt();
    if (gids.stream().noneMatch(entry -> entry.index() == index)) {
      throw new IllegalArgumentException(
          "port %d of %s has no GID with index %d; it has %s"
              .formatted(
                  port,
                  device.info().name(),
                  index,
                  gids.stream()
                      .map(entry -> entry.index() + " (" + entry.gid() + ", " + entry.type() + ")")
                      .collect(Collectors.joining(", "))));
    }
    return index;
  }

  /** Returns the index of the best GID of a port; empty if it needs one and has none. */
  static OptionalInt gidIndex(List<GidEntry> gids, LinkLayer linkLayer) {
    if (linkLayer != LinkLayer.ETHERNET) {
      return OptionalInt.of(PathConfig.NO_GID);
    }
    return gids.stream()
        .max(
            Comparator.comparing((GidEntry entry) -> entry.type() == GidType.ROCE_V2)
                .thenComparing(entry -> isIpv4(entry))
                .thenComparing(GidEntry::index, Comparator.reverseOrder()))
        .map(entry -> OptionalInt.of(entry.index()))
        .orElse(OptionalInt.empty());
  }

  private static boolean isIpv4(GidEntry entry) {
    return entry.gid().subnetPrefix() == 0 && entry.gid().interfaceId() >>> 32 == 0xffff;
  }

  @Override
  public String toString() {
    return "port "
        + port
        + " of "
        + device.info().name()
        + (gidIndex == PathConfig.NO_GID ? "" : " with GID " + gidIndex);
  }
}
