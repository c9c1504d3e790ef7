package org.rdma4j;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rdma4j.cm.CmDevices;
import org.rdma4j.testing.Command;

/** The address that tests connect to. */
public final class LocalAddress {
  private static final String MAPPED = "::ffff:";
  private static final Pattern NETWORK_INTERFACE = Pattern.compile(" netdev (\\S+)");

  private LocalAddress() {}

  /**
   * Returns an IPv4 address of an RDMA device of this machine, from its GID table, or over iWARP
   * from its network interface.
   */
  public static InetAddress ipv4() {
    for (var device : CmDevices.list()) {
      for (var entry : device.port(1).gids()) {
        String gid = entry.gid().toString();
        if (gid.startsWith(MAPPED)) {
          return parse(gid.substring(MAPPED.length()));
        }
      }
    }
    return ofInterface();
  }

  /** Returns the link-local address of the device, or over iWARP of its network interface. */
  public static Inet6Address linkLocal() throws IOException {
    for (var entry : CmDevices.list().getFirst().port(1).gids()) {
      if (entry.gid().toInetAddress() instanceof Inet6Address address
          && address.isLinkLocalAddress()) {
        return Inet6Address.getByAddress(null, address.getAddress(), entry.networkInterface());
      }
    }
    return NetworkInterface.getByInetAddress(ipv4())
        .inetAddresses()
        .filter(Inet6Address.class::isInstance)
        .map(Inet6Address.class::cast)
        .filter(Inet6Address::isLinkLocalAddress)
        .findFirst()
        .orElseThrow();
  }

  private static InetAddress ofInterface() {
    try {
      Matcher link = NETWORK_INTERFACE.matcher(Command.output("rdma", "link", "show"));
      while (link.find()) {
        for (InetAddress address :
            Collections.list(NetworkInterface.getByName(link.group(1)).getInetAddresses())) {
          if (address instanceof Inet4Address) {
            return address;
          }
        }
      }
    } catch (IOException | InterruptedException failed) {
      throw new IllegalStateException(failed);
    }
    return fail("no RDMA device has an IPv4 address");
  }

  private static InetAddress parse(String address) {
    try {
      return InetAddress.getByName(address);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
