package org.rdma4j.tools.testing;

import java.io.IOException;
import java.net.ServerSocket;
import org.rdma4j.testing.DeviceAddress;
import org.rdma4j.verbs.DeviceOperation;
import org.rdma4j.verbs.RdmaDevice;

/** The first RDMA device of this machine and one of its GIDs, as command lines name them. */
public final class TestDevice {
  /** The name of the device. */
  public static final String NAME = RdmaDevice.list().get(0).name();

  /** The index of the GID. */
  public static final String GID = gid();

  private TestDevice() {}

  private static String gid() {
    try (RdmaDevice opened = RdmaDevice.open(NAME)) {
      return String.valueOf(opened.port(1).preferredGid().index());
    }
  }

  /** Returns the IPv4 address of the device. */
  public static String host() {
    return DeviceAddress.ipv4(NAME).getHostAddress();
  }

  /** Returns the length in bytes of the longest message that the device sends. */
  public static long maxMessageSize() {
    try (RdmaDevice opened = RdmaDevice.open(NAME)) {
      return opened.port(1).attributes().maxMessageSize();
    }
  }

  /** Returns whether memory can be registered on demand. */
  public static boolean pagesOnDemand() {
    try (RdmaDevice opened = RdmaDevice.open(NAME)) {
      return opened.supports(DeviceOperation.PAGE_ON_DEMAND);
    }
  }

  /** Returns a free TCP port. */
  public static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      return free.getLocalPort();
    }
  }
}
