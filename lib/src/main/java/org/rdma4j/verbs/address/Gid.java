package org.rdma4j.verbs.address;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A global identifier (GID), {@code union ibv_gid}: 16 bytes that name a port, in the form of an
 * IPv6 address. On RoCE v2, a GID is the IP address of the network interface, and an IPv4 address
 * becomes an IPv4-mapped one such as {@code ::ffff:192.0.2.1}.
 *
 * @param subnetPrefix the first eight bytes, as a big-endian number
 * @param interfaceId the last eight bytes, as a big-endian number
 * @see GidEntry
 * @see org.rdma4j.verbs.Port#gids
 */
public record Gid(long subnetPrefix, long interfaceId) {
  /** The GID whose bytes are all zero: no GID, or an empty entry of a GID table. */
  public static final Gid ZERO = new Gid(0, 0);

  private static final int BYTES = 16;
  private static final int WORDS = 8;
  private static final int IPV4_BYTES = 4;
  private static final long IPV4_MAPPED = 0xffff_0000_0000L;

  /** An address and its zone, such as fe80::1%eth0, perhaps in brackets. */
  private static final Pattern WITH_ZONE = Pattern.compile("([^%]*)%[^%\\[\\]]+(]?)");

  private static final ValueLayout.OfLong BIG_ENDIAN =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  /**
   * Reads {@code union ibv_gid}.
   *
   * @param raw native memory that holds the struct
   * @return the GID
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
   * Returns the GID of a text: an IPv6 address in any form that {@link Inet6Address#ofLiteral}
   * accepts, such as {@code fe80::202:c9ff:fe12:34ab} or {@code ::ffff:192.0.2.1}. A zone such as
   * {@code %eth0} is ignored, since a GID has none. Host names are not accepted, so this never asks
   * a name service.
   *
   * @param text the address, for example the result of {@link #toString}
   * @return the GID
   * @throws IllegalArgumentException if the text is not an IPv6 address
   */
  public static Gid of(String text) {
    Matcher withZone = WITH_ZONE.matcher(text);
    String literal = withZone.matches() ? withZone.group(1) + withZone.group(2) : text;
    try {
      return of(Inet6Address.ofLiteral(literal));
    } catch (IllegalArgumentException noLiteral) {
      throw new IllegalArgumentException(
          "\"" + text + "\" is not a GID, must be an IPv6 address such as fe80::1", noLiteral);
    }
  }

  /**
   * Returns the GID of an IP address. A scope of the address is ignored, since a GID has none.
   *
   * @param address an IPv6 address; or an IPv4 address, which becomes an IPv4-mapped GID such as
   *     {@code ::ffff:192.0.2.1}
   * @return the GID
   */
  public static Gid of(InetAddress address) {
    ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
    return bytes.remaining() == IPV4_BYTES
        ? new Gid(0, IPV4_MAPPED | Integer.toUnsignedLong(bytes.getInt()))
        : new Gid(bytes.getLong(), bytes.getLong());
  }

  /**
   * Returns the GID of 32 hexadecimal digits, the form in which rdma-core's example programs send
   * it.
   *
   * @param hex the digits of the 16 bytes, first byte first
   * @return the GID
   * @throws IllegalArgumentException if the text is not 32 hexadecimal digits
   */
  public static Gid ofHex(String hex) {
    if (hex.length() != 2 * BYTES) {
      throw new IllegalArgumentException(
          "GID \"" + hex + "\" has " + hex.length() + " characters, must be 32 hexadecimal digits");
    }
    ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    return new Gid(bytes.getLong(), bytes.getLong());
  }

  /**
   * Returns the GID as 32 hexadecimal digits, the form in which rdma-core's example programs send
   * it.
   *
   * @return the digits of the 16 bytes in lower case, first byte first
   */
  public String toHex() {
    return HexFormat.of().toHexDigits(subnetPrefix) + HexFormat.of().toHexDigits(interfaceId);
  }

  /**
   * Returns the GID as an IP address, without a scope and without a host name.
   *
   * @return an IPv4 address if the GID is IPv4-mapped, otherwise an IPv6 address
   */
  public InetAddress toInetAddress() {
    byte[] bytes = ByteBuffer.allocate(BYTES).putLong(subnetPrefix).putLong(interfaceId).array();
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /**
   * Returns whether this is an empty entry of a GID table.
   *
   * @return whether all 16 bytes are zero
   */
  public boolean isZero() {
    return subnetPrefix == 0 && interfaceId == 0;
  }

  /**
   * Returns the GID as an IPv6 address, as {@code inet_ntop} of C prints it: eight groups of
   * hexadecimal digits in lower case without leading zeros, with "::" for the longest run of at
   * least two zero groups. If the first six groups are {@code ::} or {@code ::ffff:}, an IPv4
   * address follows. {@link #of(String)} parses this form.
   *
   * @return the address, such as {@code fe80::202:c9ff:fe12:34ab} or {@code ::ffff:192.0.2.1}
   */
  @Override
  public String toString() {
    int start = WORDS;
    int length = 1;
    for (int i = 0; i < WORDS; i++) {
      int end = i;
      while (end < WORDS && word(end) == 0) {
        end++;
      }
      if (end - i > length) {
        start = i;
        length = end - i;
      }
    }
    if (start == 0 && length == 6) {
      return "::" + ipv4();
    }
    if (start == 0 && length == 5 && word(5) == 0xffff) {
      return "::ffff:" + ipv4();
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < WORDS; i++) {
      if (i == start) {
        text.append("::");
        i += length - 1;
      } else {
        text.append(i == 0 || i == start + length ? "" : ":").append(Integer.toHexString(word(i)));
      }
    }
    return text.toString();
  }

  private int word(int i) {
    long half = i < WORDS / 2 ? subnetPrefix : interfaceId;
    return (int) (half >>> (48 - Short.SIZE * (i % (WORDS / 2)))) & 0xffff;
  }

  private String ipv4() {
    int high = word(6);
    int low = word(7);
    return (high >> 8) + "." + (high & 0xff) + "." + (low >> 8) + "." + (low & 0xff);
  }
}
