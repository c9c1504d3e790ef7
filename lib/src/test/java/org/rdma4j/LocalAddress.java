package org.rdma4j;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.NetworkInterface;
import org.rdma4j.cm.CmDevices;
import org.rdma4j.testing.DeviceAddress;

/** The address of the network interface of the device that tests connect to. */
public final class LocalAddress {
  private LocalAddress() {}

  /** Returns the link-local address of the device, or over iWARP of its network interface. */
  public static Inet6Address linkLocal() throws IOException {
    for (var entry : CmDevices.list().getFirst().port(1).gids()) {
      if (entry.gid().toInetAddress() instanceof Inet6Address address
          && address.isLinkLocalAddress()) {
        return Inet6Address.getByAddress(null, address.getAddress(), entry.networkInterface());
      }
    }
    return NetworkInterface.getByInetAddress(DeviceAddress.ipv4())
        .inetAddresses()
        .filter(Inet6Address.class::isInstance)
        .map(Inet6Address.class::cast)
        .filter(Inet6Address::isLinkLocalAddress)
        .findFirst()
        .orElseThrow();
  }
}
