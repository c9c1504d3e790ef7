package org.rdma4j.tools.command;

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

/** The device, port and GID of a program that leaves their choice to the user. */
public final class PortOptions {
  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // picocli sets it
  private CommandSpec spec;

  @Mixin final DeviceOptions device = new DeviceOptions();

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "PORT",
      description = "the port of the RDMA device (default: ${DEFAULT-VALUE})")
  private int number = 1;

  @Option(
      names = {"-g", "--gid-idx"},
      paramLabel = "INDEX",
      description = "the index of the local GID in the port's table; required on Ethernet (RoCE)")
  private @Nullable Integer gidIndex;

  /** Checks the ranges of the options. */
  public void check() {
    OptionRange.check(spec, "-i", number, 1, 255);
    if (gidIndex != null) {
      OptionRange.check(spec, "-g", gidIndex, 0, 255);
    }
  }

  /**
   * Opens the device.
   *
   * @return the open device
   */
  public RdmaDevice open() {
    return device.openConnectable();
  }

  /**
   * Returns the port.
   *
   * @return the number of the port, from 1
   */
  public int number() {
    return number;
  }

  /**
   * Returns whether a GID was given.
   *
   * @return whether {@link #gidIndex} is an index
   */
  public boolean hasGid() {
    return gidIndex != null;
  }

  /**
   * Returns the GID for a {@link PathConfig}.
   *
   * @return the index of the GID, or {@link PathConfig#NO_GID}
   */
  public int gidIndex() {
    return gidIndex == null ? PathConfig.NO_GID : gidIndex;
  }

  /**
   * Checks that the port can be used. Without these checks the program would fail later, with a
   * less helpful message or after a long wait.
   *
   * @param device the device of the port
   * @throws Failure if the device does not have the port or the GID, or the port is not active
   */
  public void checkDevice(RdmaDevice device) {
    String name = device.info().name();
    int ports = device.attributes().ports();
    if (number > ports) {
      throw new Failure(
          "-i is %d, must be from 1 to %d, the number of ports of %s"
              .formatted(number, ports, name));
    }
    PortAttributes attributes = device.port(number).attributes();
    if (attributes.state() != PortState.ACTIVE && attributes.state() != PortState.ACTIVE_DEFER) {
      throw new Failure(
          "port %d of %s is in state %s, must be ACTIVE; check its cable or its network interface"
              .formatted(number, name, attributes.state()));
    }
    if (gidIndex == null && attributes.linkLayer() == LinkLayer.ETHERNET) {
      throw new Failure(
          "port %d of %s is Ethernet (RoCE) and needs a GID; give -g one of these indices: %s"
              .formatted(number, name, GidText.table(device, number)));
    }
    if (gidIndex != null
        && (gidIndex >= attributes.gidTableLength()
            || device.port(number).gid(gidIndex).isZero())) {
      throw new Failure(
          "-g is %d, but port %d of %s has no GID at that index; give one of these indices: %s"
              .formatted(gidIndex, number, name, GidText.table(device, number)));
    }
  }
}
