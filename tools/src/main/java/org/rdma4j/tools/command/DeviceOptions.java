package org.rdma4j.tools.command;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.TransportType;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of every program that opens a device by its name. */
public final class DeviceOptions {
  @Option(
      names = {"-d", "--ib-dev"},
      paramLabel = "DEVICE",
      description = "the RDMA device, such as mlx5_0 (default: the first one)")
  private @Nullable String device;

  @Mixin final DebugOption debug = new DebugOption();

  /**
   * Returns the name that was given.
   *
   * @return the name of the device, or null for the first one
   */
  public @Nullable String device() {
    return device;
  }

  /**
   * Opens the device of that name, or the first one.
   *
   * @return the open device
   * @throws Failure if this machine has no RDMA device, or none of that name
   */
  public RdmaDevice open() {
    return RdmaDevice.open(selected().get(0).name());
  }

  /**
   * Opens the device of that name, or the first one of InfiniBand or RoCE, for a program that
   * connects queue pairs by their addresses.
   *
   * @return the open device
   * @throws Failure if this machine has no such device
   */
  public RdmaDevice openConnectable() {
    List<DeviceInfo> candidates = selected();
    return candidates.stream()
        .filter(each -> each.transport() != TransportType.IWARP)
        .findFirst()
        .map(chosen -> RdmaDevice.open(chosen.name()))
        .orElseThrow(
            () ->
                new Failure(
                    ("%s cannot be used: only the connection manager connects queue pairs over"
                            + " iWARP; give another device, or run rping or connection-pingpong")
                        .formatted(names(candidates))));
  }

  /**
   * Returns the device of that name, or all devices.
   *
   * @return at least one device
   * @throws Failure if this machine has no RDMA device, or none of that name
   */
  public List<DeviceInfo> selected() {
    return selected(device);
  }

  /**
   * Returns the device of a name, or all devices.
   *
   * @param device the name, or null
   * @return at least one device
   * @throws Failure if this machine has no RDMA device, or none of that name
   */
  public static List<DeviceInfo> selected(@Nullable String device) {
    List<DeviceInfo> devices = list();
    if (device == null) {
      return devices;
    }
    List<DeviceInfo> selected =
        devices.stream().filter(each -> each.name().equals(device)).toList();
    if (selected.isEmpty()) {
      throw new Failure(
          "no RDMA device is named \"%s\"; this machine has %s".formatted(device, names(devices)));
    }
    return selected;
  }

  private static List<DeviceInfo> list() {
    List<DeviceInfo> devices = RdmaDevice.list();
    if (devices.isEmpty()) {
      throw new Failure(
          "this machine has no RDMA device; \"rdma link\" lists them, and \"rdma link add rxe0 type"
              + " rxe netdev eth0\" creates one on the network interface eth0; \"doctor\" says more");
    }
    return devices;
  }

  private static String names(List<DeviceInfo> devices) {
    return devices.stream().map(DeviceInfo::name).collect(Collectors.joining(", "));
  }
}
