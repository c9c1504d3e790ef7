package org.rdma4j.samples;

import org.jspecify.annotations.Nullable;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.attribute.LinkLayer;
import org.rdma4j.verbs.attribute.PortAttributes;
import org.rdma4j.verbs.attribute.PortState;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Which device, port and GID a program uses that knows no better. */
final class PortOptions {
  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  CommandSpec spec;

  @Mixin
  @SuppressWarnings("NullAway.Init") // picocli sets it
  Options options;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "the port of the RDMA device (default: ${DEFAULT-VALUE})")
  int number = 1;

  @Option(
      names = {"-g", "--gid-idx"},
      paramLabel = "INDEX",
      description = "the local GID, by its index in the port's table; Ethernet (RoCE) needs it")
  @Nullable Integer gidIndex;

  void check() {
    Options.checkRange(spec, "-i", number, 1, 255);
    if (gidIndex != null) {
      Options.checkRange(spec, "-g", gidIndex, 0, 255);
    }
  }

  RdmaDevice open() {
    return options.open();
  }

  /** As paths take it. */
  int gidIndex() {
    return gidIndex == null ? PathConfig.NO_GID : gidIndex;
  }

  /** What would otherwise fail later, where it is harder to tell why, or after a long wait. */
  void checkDevice(RdmaDevice device) {
    String name = device.info().name();
    int ports = device.attributes().ports();
    if (number > ports) {
      throw new Failure("-i %d: %s has the ports 1 to %d".formatted(number, name, ports));
    }
    PortAttributes attributes = device.port(number);
    if (attributes.state() != PortState.ACTIVE && attributes.state() != PortState.ACTIVE_DEFER) {
      throw new Failure(
          "port %d of %s is in state %s: connect it first"
              .formatted(number, name, attributes.state()));
    }
    if (gidIndex == null && attributes.linkLayer() == LinkLayer.ETHERNET) {
      throw new Failure(
          "port %d of %s is Ethernet (RoCE), which needs -g with the index of a GID; there are %s"
              .formatted(number, name, GidText.table(device, number)));
    }
    if (gidIndex != null
        && (gidIndex >= attributes.gidTableLength() || device.gid(number, gidIndex).isZero())) {
      throw new Failure(
          "-g %d: port %d of %s has no GID of that index; there are %s"
              .formatted(gidIndex, number, name, GidText.table(device, number)));
    }
  }
}
