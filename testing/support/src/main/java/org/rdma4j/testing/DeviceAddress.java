package org.rdma4j.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The IPv4 address at which this machine is reached over RDMA. */
public final class DeviceAddress {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");

  /** The first bytes of a GID that is an IPv4 address. */
  private static final String MAPPED = "00000000000000000000ffff";

  private static final Pattern NETWORK_INTERFACE = Pattern.compile(" netdev (\\S+)");

  private DeviceAddress() {}

  /**
   * Returns an IPv4 address of an RDMA device: the first one of a GID table, or over iWARP, whose
   * GIDs are no addresses, that of the network interface.
   */
  public static InetAddress ipv4() {
    try {
      for (Path device : devices()) {
        Optional<InetAddress> address = inGidTable(device);
        if (address.isPresent()) {
          return address.get();
        }
      }
      return ofInterface();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Returns an IPv4 address of one device, in the same way. */
  public static InetAddress ipv4(String device) {
    try {
      Optional<InetAddress> address = inGidTable(DEVICES.resolve(device));
      return address.isPresent() ? address.get() : ofInterface(device + "/1");
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static Optional<InetAddress> inGidTable(Path device) throws IOException {
    Path gids = device.resolve("ports/1/gids");
    for (int i = 0; Files.exists(gids.resolve("" + i)); i++) {
      String gid = Files.readString(gids.resolve("" + i)).strip().replace(":", "");
      if (gid.startsWith(MAPPED)) {
        byte[] address = HexFormat.of().parseHex(gid.substring(MAPPED.length()));
        return Optional.of(InetAddress.getByAddress(address));
      }
    }
    return Optional.empty();
  }

  private static List<Path> devices() throws IOException {
    try (Stream<Path> devices = Files.list(DEVICES)) {
      return devices.sorted().toList();
    }
  }

  private static InetAddress ofInterface(String... link) throws IOException {
    List<String> command = new ArrayList<>(List.of("rdma", "link", "show"));
    command.addAll(List.of(link));
    try {
      return NETWORK_INTERFACE
          .matcher(Command.output(command.toArray(String[]::new)))
          .results()
          .map(shown -> shown.group(1))
          .flatMap(DeviceAddress::addresses)
          .filter(Inet4Address.class::isInstance)
          .findFirst()
          .orElseThrow(() -> new AssertionError("no RDMA device has an IPv4 address"));
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  private static Stream<InetAddress> addresses(String networkInterface) {
    try {
      return NetworkInterface.getByName(networkInterface).inetAddresses();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
