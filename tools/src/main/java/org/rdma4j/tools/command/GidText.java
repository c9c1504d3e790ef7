package org.rdma4j.tools.command;

import java.util.Objects;
import java.util.stream.Collectors;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.Gid;

/** GIDs in options and in what programs print. */
public final class GidText {
  private GidText() {}

  /**
   * Parses a GID.
   *
   * @param text a numeric IPv6 address
   * @return the GID
   * @throws Failure if the text is not one
   */
  public static Gid parse(String text) {
    try {
      return Gid.of(text);
    } catch (IllegalArgumentException noAddress) {
      throw new Failure(Objects.requireNonNull(noAddress.getMessage()), noAddress);
    }
  }

  /**
   * Formats a GID as eight groups of four digits.
   *
   * @param gid the GID
   * @return its text, such as {@code fe80:0000:0000:0000:0202:c9ff:fe12:34ab}
   */
  public static String groups(Gid gid) {
    return gid.toHex().replaceAll("(?<=.)(?=(.{4})+$)", ":");
  }

  /**
   * Lists the GIDs of a port with their indices, for a message.
   *
   * @param device the device
   * @param port the number of the port
   * @return the list, separated by commas
   */
  public static String table(RdmaDevice device, int port) {
    return device.port(port).gids().stream()
        .map(entry -> "%d (%s, %s)".formatted(entry.index(), entry.gid(), entry.type()))
        .collect(Collectors.joining(", "));
  }
}
