package org.rdma4j.samples;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.DeviceInfo;
import org.rdma4j.verbs.RdmaDevice;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options of every subcommand that uses a device. */
final class Options {
  @Option(
      names = {"-d", "--ib-dev"},
      paramLabel = "DEVICE",
      description = "the RDMA device, such as mlx5_0 (default: the first one)")
  @Nullable String device;

  @Mixin final DebugOption debug = new DebugOption();

  /** The device of that name, else the first one. */
  RdmaDevice open() {
    return RdmaDevice.open(device != null ? device : devices().get(0).name());
  }

  /** Refuses a number that an option does not take. */
  static void checkRange(CommandSpec spec, String option, int value, int min, int max) {
    if (value < min || value > max) {
      throw new ParameterException(
          spec.commandLine(), "%s is %d, must be from %d to %d".formatted(option, value, min, max));
    }
  }

  /** The devices of this machine, of which there is one at least. */
  static List<DeviceInfo> devices() {
    List<DeviceInfo> devices = RdmaDevice.list();
    if (devices.isEmpty()) {
      throw new Failure(
          "this machine has no RDMA device; \"rdma link\" shows them, and \"rdma link add rxe0 type"
              + " rxe netdev eth0\" makes one of the network interface eth0");
    }
    return devices;
  }

  static String names(List<DeviceInfo> devices) {
    return devices.stream().map(DeviceInfo::name).collect(Collectors.joining(", "));
  }
}
