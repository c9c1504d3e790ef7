package org.rdma4j.verbs.address;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.Range;

/**
 * The address of a queue pair: what its peer has to know to connect to it. Two programs exchange
 * their addresses by other means than RDMA, for example over a TCP socket, as text ({@link
 * #toString} and {@link #of(String)}) or as bytes ({@link #toBytes} and {@link #of(byte[])}).
 *
 * @param lid the local identifier (LID) of its port, 0 to 0xffff; 0 on Ethernet
 * @param queuePairNumber its queue pair number (QPN), 0 to 0xffffff
 * @param sequenceNumber the packet sequence number (PSN) that it begins with, 0 to 0xffffff
 * @param gid the GID of its port; {@link Gid#ZERO} if it uses none
 * @see org.rdma4j.verbs.QueuePair#address
 * @see org.rdma4j.verbs.PathConfig#to
 */
public record QueuePairAddress(int lid, int queuePairNumber, int sequenceNumber, Gid gid) {
  /** The length of the address as bytes. */
  public static final int BYTES = 2 + 4 + 4 + 16;

  /** A longer text is not an address: this leaves a GID room for a zone. */
  private static final int MAX_CHARACTERS = 200;

  private static final Pattern TEXT =
      Pattern.compile(
          "LID 0x(\\p{XDigit}{1,4}), QPN 0x(\\p{XDigit}{1,6}), PSN 0x(\\p{XDigit}{1,6}), GID (.*)");

  /**
   * Creates an address from its parts.
   *
   * @throws IllegalArgumentException if a number is out of its range
   */
  public QueuePairAddress {
    Range.check("lid", lid, 0, 0xffff);
    Range.check("queuePairNumber", queuePairNumber, 0, 0xff_ffff);
    Range.check("sequenceNumber", sequenceNumber, 0, 0xff_ffff);
  }

  /**
   * Returns the address of a text in the form of {@link #toString}. Hexadecimal digits may be in
   * upper or lower case, leading zeros may be missing, and the GID may have any form that {@link
   * Gid#of(String)} accepts.
   *
   * @param text the text, such as {@code LID 0x0000, QPN 0x00001f, PSN 0xab5cd3, GID fe80::1}
   * @return the address
   * @throws IllegalArgumentException if the text does not have this form
   */
  public static QueuePairAddress of(String text) {
    if (text.length() > MAX_CHARACTERS) {
      throw new IllegalArgumentException(
          "the text has %d characters, the address of a queue pair has at most %d"
              .formatted(text.length(), MAX_CHARACTERS));
    }
    Matcher fields = TEXT.matcher(text);
    if (!fields.matches()) {
      throw notAnAddress(text, null);
    }
    try {
      return new QueuePairAddress(
          HexFormat.fromHexDigits(fields.group(1)),
          HexFormat.fromHexDigits(fields.group(2)),
          HexFormat.fromHexDigits(fields.group(3)),
          Gid.of(fields.group(4)));
    } catch (IllegalArgumentException noGid) {
      throw notAnAddress(text, noGid);
    }
  }

  private static IllegalArgumentException notAnAddress(
      String text, @Nullable IllegalArgumentException cause) {
    return new IllegalArgumentException(
        "\"%s\" is not the address of a queue pair, must have the form \"%s\""
            .formatted(text, new QueuePairAddress(0, 0x1f, 0xab5cd3, new Gid(0xfe80L << 48, 1))),
        cause);
  }

  /**
   * Returns the address of its bytes.
   *
   * @param bytes {@value #BYTES} bytes in the order that {@link #toBytes} describes
   * @return the address
   * @throws IllegalArgumentException if the array does not have {@value #BYTES} bytes, or a number
   *     is out of its range
   */
  public static QueuePairAddress of(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException(
          "the address of a queue pair has %d bytes, the array has %d"
              .formatted(BYTES, bytes.length));
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return new QueuePairAddress(
        Short.toUnsignedInt(buffer.getShort()),
        buffer.getInt(),
        buffer.getInt(),
        new Gid(buffer.getLong(), buffer.getLong()));
  }

  /**
   * Returns the address as {@value #BYTES} bytes: the LID in 2 bytes, the queue pair number in 4,
   * the packet sequence number in 4, and the GID in 16. All numbers are in network byte order (big
   * endian).
   *
   * @return a new array
   */
  public byte[] toBytes() {
    return ByteBuffer.allocate(BYTES)
        .putShort((short) lid)
        .putInt(queuePairNumber)
        .putInt(sequenceNumber)
        .putLong(gid.subnetPrefix())
        .putLong(gid.interfaceId())
        .array();
  }

  /**
   * Returns the address as one line of text, in the form that rdma-core's ping-pong programs print:
   * {@code LID 0x0000, QPN 0x00001f, PSN 0xab5cd3, GID fe80::1}. The LID has 4 hexadecimal digits,
   * the queue pair number and the packet sequence number have 6, and the GID is an IPv6 address, as
   * {@link Gid#toString} returns it. {@link #of(String)} parses this form.
   *
   * @return the text
   */
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s",
        lid,
        queuePairNumber,
        sequenceNumber,
        gid);
  }
}
