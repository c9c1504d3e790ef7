package org.rdma4j.samples.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Inet4Address;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import org.rdma4j.verbs.DeviceOperation;
import org.rdma4j.verbs.RdmaDevice;

/** The first RDMA device of this machine and one of its GIDs, as command lines name them. */
public final class TestDevice {
  private static final String MAPPED_IPV4 = "::ffff:";

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

  /**
   * Returns the IPv4 address of the device, which its GID table contains, or over iWARP its network
   * interface has.
   */
  public static String host() {
    try (RdmaDevice opened = RdmaDevice.open(NAME)) {
      return opened.port(1).gids().stream()
          .map(entry -> entry.gid().toString())
          .filter(gid -> gid.startsWith(MAPPED_IPV4))
          .findFirst()
          .map(gid -> gid.substring(MAPPED_IPV4.length()))
          .orElseGet(TestDevice::hostOfInterface);
    }
  }

  private static String hostOfInterface() {
    try {
      Process shown = new ProcessBuilder("rdma", "link", "show", NAME + "/1").start();
      String link = new String(shown.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      String name = link.replaceFirst("(?s).* netdev (\\S+).*", "$1");
      return NetworkInterface.getByName(name)
          .inetAddresses()
          .filter(address -> address instanceof Inet4Address)
          .findFirst()
          .orElseThrow()
          .getHostAddress();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
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
