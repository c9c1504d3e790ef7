package org.rdma4j.interop;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Finds a port for a program that takes none of its own choice. */
final class FreePort {
  private FreePort() {}

  static int find() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
