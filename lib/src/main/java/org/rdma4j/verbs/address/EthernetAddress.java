package org.rdma4j.verbs.address;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/**
 * The Ethernet address (MAC address) of a network interface.
 *
 * @param value the six bytes as a big-endian number
 * @see EthernetDestination
 */
public record EthernetAddress(long value) {
  /** The length of an address in bytes. */
  public static final int BYTES = 6;

  private static final long GREATEST = 0xffff_ffff_ffffL;
  private static final HexFormat TEXT = HexFormat.ofDelimiter(":");

  /**
   * Creates an address from its number.
   *
   * @throws IllegalArgumentException if the number is negative or has more than six bytes
   */
  public EthernetAddress {
    if (value < 0 || value > GREATEST) {
      throw new IllegalArgumentException(
          "an Ethernet address is 0x%x, must be from 0 to 0x%x".formatted(value, GREATEST));
    }
  }

  /**
   * Returns the address of a text.
   *
   * @param text the text, such as {@code 02:00:5e:10:00:01}
   * @return the address
   * @throws IllegalArgumentException if the text is not six pairs of hexadecimal digits, separated
   *     by colons
   */
  public static EthernetAddress of(String text) {
    byte[] bytes = TEXT.parseHex(text);
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException(
          "Ethernet address \"" + text + "\" has " + bytes.length + " bytes, must have " + BYTES);
    }
    return read(MemorySegment.ofArray(bytes));
  }

  /**
   * Reads the 6 bytes of an address.
   *
   * @param bytes memory that holds them, first byte first
   * @return the address
   * @throws IndexOutOfBoundsException if the memory is shorter than 6 bytes
   */
  public static EthernetAddress read(MemorySegment bytes) {
    long value = 0;
    for (int i = 0; i < BYTES; i++) {
      value = (value << Byte.SIZE) | Byte.toUnsignedLong(bytes.get(ValueLayout.JAVA_BYTE, i));
    }
    return new EthernetAddress(value);
  }

  void write(MemorySegment bytes) {
    for (int i = 0; i < BYTES; i++) {
      bytes.set(ValueLayout.JAVA_BYTE, i, (byte) (value >>> (Byte.SIZE * (BYTES - 1 - i))));
    }
  }

  /**
   * Returns the address as tools print it.
   *
   * @return the text, such as {@code 02:00:5e:10:00:01}
   */
  @Override
  public String toString() {
    byte[] bytes = new byte[BYTES];
    write(MemorySegment.ofArray(bytes));
    return TEXT.formatHex(bytes);
  }
}
