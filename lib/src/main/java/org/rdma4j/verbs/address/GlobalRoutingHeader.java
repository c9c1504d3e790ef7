package org.rdma4j.verbs.address;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The 40 bytes that precede the payload of a received datagram: {@code struct ibv_grh}. They are
 * always there, and always counted in the length of the completion, but the device does not always
 * write to them: {@link org.rdma4j.verbs.Completions#hasGlobalRoutingHeader} returns whether it
 * did. On RoCE v2 they hold the IPv6 header. If the packet has an IPv4 header, it is in the last 20
 * bytes, and the first 20 bytes are undefined, see {@link #ofIpv4}.
 *
 * @param version the IP version, 6
 * @param trafficClass the traffic class, 0 to 255
 * @param flowLabel the flow label, 0 to 0xfffff
 * @param payloadLength the number of bytes that followed in the packet, 0 to 65535
 * @param nextHeader the type of the next header: 0x1b on InfiniBand and RoCE v1, 17 on RoCE v2
 * @param hopLimit the number of routers that the packet could still pass, 0 to 255
 * @param source the sender's GID
 * @param destination the GID that the packet was sent to
 * @see GlobalRoute
 */
public record GlobalRoutingHeader(
    int version,
    int trafficClass,
    int flowLabel,
    int payloadLength,
    int nextHeader,
    int hopLimit,
    Gid source,
    Gid destination) {
  /** The number of bytes to reserve for the header before the payload. */
  public static final int BYTES = 40;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int IPV4_OFFSET = 20;
  private static final byte VERSION_4_OF_5_WORDS = 0x45;

  /**
   * Reads an IPv6 header, or the header of InfiniBand, which has the same form.
   *
   * @param received the memory of the receive, whose first 40 bytes are read
   * @return the header
   * @throws IndexOutOfBoundsException if the memory is shorter
   */
  public static GlobalRoutingHeader of(MemorySegment received) {
    int first = received.get(INT, 0);
    return new GlobalRoutingHeader(
        first >>> 28,
        first >>> 20 & 0xff,
        first & 0xf_ffff,
        Short.toUnsignedInt(received.get(SHORT, 4)),
        Byte.toUnsignedInt(received.get(ValueLayout.JAVA_BYTE, 6)),
        Byte.toUnsignedInt(received.get(ValueLayout.JAVA_BYTE, 7)),
        Gid.read(received.asSlice(8, 16)),
        Gid.read(received.asSlice(24, 16)));
  }

  /**
   * Returns whether the last 20 of the 40 bytes are an IPv4 header. As in libibverbs, they are if
   * the first bytes cannot be an IPv6 header, or if the checksum of the IPv4 header is right.
   *
   * @param received the memory of the receive, whose first 40 bytes are read
   * @return whether they are an IPv4 header
   * @throws IndexOutOfBoundsException if the memory is shorter
   */
  public static boolean isIpv4(MemorySegment received) {
    MemorySegment header = received.asSlice(IPV4_OFFSET, BYTES - IPV4_OFFSET);
    if (header.get(ValueLayout.JAVA_BYTE, 0) != VERSION_4_OF_5_WORDS) {
      return false;
    }
    return received.get(ValueLayout.JAVA_BYTE, 0) >>> 4 != 6 || hasRightChecksum(header);
  }

  private static boolean hasRightChecksum(MemorySegment header) {
    int sum = 0;
    for (int i = 0; i < header.byteSize(); i += Short.BYTES) {
      sum += Short.toUnsignedInt(header.get(SHORT, i));
    }
    return (sum & 0xffff) + (sum >>> 16) == 0xffff;
  }

  /**
   * Reads the IPv4 header in the last 20 bytes. Its addresses become IPv4-mapped GIDs.
   *
   * @param received the memory of the receive, whose first 40 bytes are read
   * @return the header, with a flow label of 0
   * @throws IndexOutOfBoundsException if the memory is shorter
   */
  public static GlobalRoutingHeader ofIpv4(MemorySegment received) {
    MemorySegment header = received.asSlice(IPV4_OFFSET, BYTES - IPV4_OFFSET);
    return new GlobalRoutingHeader(
        header.get(ValueLayout.JAVA_BYTE, 0) >>> 4 & 15,
        Byte.toUnsignedInt(header.get(ValueLayout.JAVA_BYTE, 1)),
        0,
        Short.toUnsignedInt(header.get(SHORT, 2)) - (BYTES - IPV4_OFFSET),
        Byte.toUnsignedInt(header.get(ValueLayout.JAVA_BYTE, 9)),
        Byte.toUnsignedInt(header.get(ValueLayout.JAVA_BYTE, 8)),
        mapped(header.get(INT, 12)),
        mapped(header.get(INT, 16)));
  }

  private static Gid mapped(int address) {
    return new Gid(0, 0xffffL << Integer.SIZE | Integer.toUnsignedLong(address));
  }
}
