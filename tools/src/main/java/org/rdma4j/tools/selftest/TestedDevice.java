package org.rdma4j.tools.selftest;

import java.net.InetAddress;
import java.util.Optional;
import org.rdma4j.verbs.RdmaDevice;

/**
 * The device that is tested.
 *
 * @param name its name
 * @param port the number of the port that data goes through
 * @param count how many requests of each kind are posted
 * @param address its IP address, if it has one
 */
record TestedDevice(String name, int port, int count, Optional<InetAddress> address) {
  RdmaDevice open() {
    return RdmaDevice.open(name);
  }
}
