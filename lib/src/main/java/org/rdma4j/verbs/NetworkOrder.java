package org.rdma4j.verbs;

import java.nio.ByteOrder;

/** {@code htonl} and, being its own inverse, {@code ntohl}. */
final class NetworkOrder {
  private static final boolean SWAPS = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private NetworkOrder() {}

  static int of(int value) {
    return SWAPS ? Integer.reverseBytes(value) : value;
  }

  static long of(long value) {
    return SWAPS ? Long.reverseBytes(value) : value;
  }
}
