package org.rdma4j.platform;

import java.nio.ByteOrder;

/**
 * Converts numbers between the byte order of this machine and network byte order, in both
 * directions: {@code htonl} and {@code ntohl}.
 */
public final class NetworkOrder {
  private static final boolean SWAPS = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private NetworkOrder() {}

  public static int of(int value) {
    return SWAPS ? Integer.reverseBytes(value) : value;
  }

  public static long of(long value) {
    return SWAPS ? Long.reverseBytes(value) : value;
  }
}
