package org.rdma4j.verbs.address;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * A global identifier, {@code union ibv_gid}: 16 bytes, on the wire in the order of an IPv6
 * address. Both halves here are big-endian numbers of those bytes.
 *
 * @param subnetPrefix the first eight bytes
 * @param interfaceId the last eight bytes
 */
public record Gid(long subnetPrefix, long interfaceId) {
  /** All zero: no GID, or an empty entry of the GID table. */
  public static final Gid ZERO = new Gid(0, 0);

  private static final ValueLayout.OfLong BIG_ENDIAN =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /**
   * Reads {@code union ibv_gid}.
   *
   * @param raw native memory that holds the struct
   * @return what it says
   * @throws IndexOutOfBoundsException if the memory is shorter than the struct
   */
  public static Gid read(MemorySegment raw) {
    return new Gid(raw.get(BIG_ENDIAN, 0), raw.get(BIG_ENDIAN, 8));
  }

  /**
   * Writes {@code union ibv_gid}.
   *
   * @param raw native memory for the struct
   * @throws IndexOutOfBoundsException if the memory is shorter than the struct
   */
  public void write(MemorySegment raw) {
    raw.set(BIG_ENDIAN, 0, subnetPrefix);
    raw.set(BIG_ENDIAN, 8, interfaceId);
  }

  /**
   * The GID of 32 hexadecimal digits, as rdma-core's example programs send it.
   *
   * @param hex the digits, the first byte first
   * @return the GID
   * @throws IllegalArgumentException for anything but 32 hexadecimal digits
   */
  public static Gid ofHex(String hex) {
    if (hex.length() != 32) {
      throw new IllegalArgumentException("GID \"" + hex + "\" has not 32 hexadecimal digits");
    }
    ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    return new Gid(bytes.getLong(), bytes.getLong());
  }

  /**
   * The GID as 32 hexadecimal digits, as rdma-core's example programs send it.
   *
   * @return the digits in lower case, the first byte first
   */
  public String toHex() {
    return HexFormat.of().toHexDigits(subnetPrefix) + HexFormat.of().toHexDigits(interfaceId);
  }

  /**
   * Whether this is an empty entry of a GID table.
   *
   * @return whether all 16 bytes are zero
   */
  public boolean isZero() {
    return subnetPrefix == 0 && interfaceId == 0;
  }

  /**
   * The GID as an IPv6 address; an IPv4-mapped one as {@code ::ffff:192.0.2.1}.
   *
   * @return the address in text
   */
  @Override
  public String toString() {
    byte[] bytes = ByteBuffer.allocate(16).putLong(subnetPrefix).putLong(interfaceId).array();
    try {
      InetAddress address = InetAddress.getByAddress(bytes);
      boolean mapped = address.getAddress().length == 4;
      return (mapped ? "::ffff:" : "") + address.getHostAddress();
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
