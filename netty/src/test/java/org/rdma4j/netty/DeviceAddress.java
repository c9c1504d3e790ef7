package org.rdma4j.netty;

import java.net.InetAddress;
import org.rdma4j.verbs.RdmaDevice;

/** The IPv4 address at which this machine is reached over RDMA. */
final class DeviceAddress {
  private static final String MAPPED = "::ffff:";

  private DeviceAddress() {}

  static InetAddress find() {
    for (var info : RdmaDevice.list()) {
      try (RdmaDevice device = RdmaDevice.open(info.name())) {
        for (var entry : device.port(1).gids()) {
          String gid = entry.gid().toString();
          if (gid.startsWith(MAPPED)) {
            return InetAddress.ofLiteral(gid.substring(MAPPED.length()));
          }
        }
      }
    }
    throw new AssertionError("no RDMA device has an IPv4 address");
  }
}
