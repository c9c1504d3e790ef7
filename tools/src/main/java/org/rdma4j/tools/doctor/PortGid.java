package org.rdma4j.tools.doctor;

import java.net.Inet4Address;
import java.net.InetAddress;
import org.rdma4j.verbs.address.Gid;

/**
 * A GID of a port, from sysfs.
 *
 * @param index its index in the table of the port
 * @param gid the GID
 * @param roceV2 whether it is for version 2 of RoCE
 * @param networkInterface the network interface that it belongs to; empty on InfiniBand
 */
record PortGid(int index, Gid gid, boolean roceV2, String networkInterface) {
  static PortGid of(int index, String gid, String type, String networkInterface) {
    return new PortGid(index, Gid.of(gid), type.equals("RoCE v2"), networkInterface);
  }

  boolean isIpv4() {
    return address() instanceof Inet4Address;
  }

  boolean isLinkLocal() {
    return address().isLinkLocalAddress();
  }

  boolean isLoopback() {
    return address().isLoopbackAddress();
  }

  /** Returns the IP address that the GID is made from. */
  String ip() {
    return isIpv4() ? address().getHostAddress() : gid.toString();
  }

  private InetAddress address() {
    return gid.toInetAddress();
  }
}
