package org.rdma4j.nio;

import java.net.InetAddress;
import java.util.Arrays;

/**
 * The addresses whose first bits are the same.
 *
 * @param address one of them
 * @param bits the number of these bits
 */
record Network(InetAddress address, int bits) {
  Network {
    if (bits < 0 || bits > address.getAddress().length * Byte.SIZE) {
      throw new IllegalArgumentException(
          "an address such as " + address.getHostAddress() + " has no " + bits + " bits");
    }
  }

  /**
   * Reads a network, such as 10.0.0.0/8, or a single address.
   *
   * @throws IllegalArgumentException if the text is neither
   */
  static Network parse(String text) {
    int slash = text.indexOf('/');
    if (slash < 0) {
      InetAddress address = InetAddress.ofLiteral(text);
      return new Network(address, address.getAddress().length * Byte.SIZE);
    }
    InetAddress address = InetAddress.ofLiteral(text.substring(0, slash));
    return new Network(address, Integer.parseInt(text.substring(slash + 1)));
  }

  @Override
  public String toString() {
    return address.getHostAddress() + "/" + bits;
  }

  /** Returns whether an address is one of them. One of another version of IP never is. */
  boolean contains(InetAddress other) {
    byte[] mine = address.getAddress();
    byte[] its = other.getAddress();
    int whole = bits / Byte.SIZE;
    if (mine.length != its.length || !Arrays.equals(mine, 0, whole, its, 0, whole)) {
      return false;
    }
    int rest = bits % Byte.SIZE;
    return rest == 0 || (mine[whole] ^ its[whole]) >> (Byte.SIZE - rest) == 0;
  }
}
