package org.rdma4j;

import static org.assertj.core.api.Assertions.fail;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.rdma4j.cm.CmDevices;

/** The address that tests connect to. */
public final class LocalAddress {
  private static final String MAPPED = "::ffff:";

  private LocalAddress() {}

  /** Returns an IPv4 address of an RDMA device of this machine, from its GID table. */
  public static InetAddress ipv4() {
    for (var device : CmDevices.list()) {
      for (var entry : device.gids()) {
        String gid = entry.gid().toString();
        if (gid.startsWith(MAPPED)) {
          return parse(gid.substring(MAPPED.length()));
        }
      }
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
