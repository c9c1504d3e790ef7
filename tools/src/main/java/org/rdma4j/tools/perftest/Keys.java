package org.rdma4j.tools.perftest;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;

/**
 * What a side sends the other about a queue pair: {@code struct pingpong_dest} of perftest.
 *
 * @param address the address of the queue pair; the GID is zero if it has none
 * @param reads the number of reads and atomic operations that may be outstanding
 * @param remoteKey the key of the memory
 * @param remoteAddress the address of the memory
 */
record Keys(QueuePairAddress address, int reads, int remoteKey, long remoteAddress) {
  /** Sent when both sides only wait for each other, before there is a queue pair. */
  static final Keys NONE = new Keys(new QueuePairAddress(0, 0, 0, Gid.ZERO), 0, 0, 0);

  /** The length of the struct. */
  static final int STRUCT_BYTES = 56;

  /** The length of the text without and with a GID. Both end with a zero byte. */
  static final int TEXT_BYTES = 59;

  static final int TEXT_BYTES_GID = 108;

  /** The place of a colon in the text with a GID, and of a digit in the text without one. */
  private static final int COLON_AFTER_GID_BYTE = 52;

  private static final int VIRTUAL_ADDRESS = 24;
  private static final int GID = 32;

  private static final String NUMBERS =
      "(\\p{XDigit}{4}):(\\p{XDigit}{4,8}):(\\p{XDigit}{6}):(\\p{XDigit}{6}):(\\p{XDigit}{8}):(\\p{XDigit}{16}):";
  private static final Pattern TEXT = Pattern.compile(NUMBERS + "\\p{XDigit}{8}\\p{Cntrl}*");
  private static final Pattern TEXT_GID =
      Pattern.compile(NUMBERS + "((?:\\p{XDigit}\\p{XDigit}:){16})\\p{XDigit}{8}:?\\p{Cntrl}*");

  /** Returns whether the first bytes are those of a text with a GID. */
  static boolean hasGid(byte[] beginning) {
    return beginning[COLON_AFTER_GID_BYTE] == ':';
  }

  /** Returns the text that is sent over TCP. */
  byte[] toText(boolean withGid) {
    String text =
        String.format(
            Locale.ROOT,
            "%04x:%04x:%06x:%06x:%08x:%016x:",
            address.lid(),
            reads,
            address.queuePairNumber(),
            address.sequenceNumber(),
            remoteKey,
            remoteAddress);
    if (withGid) {
      text += address.gid().toHex().replaceAll("..", "$0:") + "00000000:";
    } else {
      text += "00000000";
    }
    return (text + '\0').getBytes(StandardCharsets.US_ASCII);
  }

  /** Parses a text of either kind. */
  static Keys ofText(byte[] message, String program) {
    String text = new String(message, StandardCharsets.ISO_8859_1);
    Matcher matcher = (message.length == TEXT_BYTES ? TEXT : TEXT_GID).matcher(text);
    if (!matcher.matches()) {
      throw new Failure(
          "the peer sent \"%s\", which is not the address of a queue pair; check that it is %s, with the same options"
              .formatted(text.replaceAll("[^ -~]", "."), program));
    }
    Gid gid =
        message.length == TEXT_BYTES ? Gid.ZERO : Gid.ofHex(matcher.group(7).replace(":", ""));
    return new Keys(
        new QueuePairAddress(number(matcher, 1), number(matcher, 3), number(matcher, 4), gid),
        number(matcher, 2),
        number(matcher, 5),
        Long.parseUnsignedLong(matcher.group(6), 16));
  }

  private static int number(Matcher matcher, int group) {
    return Integer.parseUnsignedInt(matcher.group(group), 16);
  }

  /** Returns the struct that is sent over the connection manager's connection. */
  byte[] toStruct() {
    return ByteBuffer.allocate(STRUCT_BYTES)
        .putInt(address.lid())
        .putInt(reads)
        .putInt(address.queuePairNumber())
        .putInt(address.sequenceNumber())
        .putInt(remoteKey)
        .putLong(VIRTUAL_ADDRESS, remoteAddress)
        .putLong(GID, address.gid().subnetPrefix())
        .putLong(GID + Long.BYTES, address.gid().interfaceId())
        .array();
  }

  /** Parses a struct. */
  static Keys ofStruct(byte[] message) {
    ByteBuffer bytes = ByteBuffer.wrap(message);
    int lid = bytes.getInt() & 0xffff;
    int reads = bytes.getInt();
    int number = bytes.getInt() & 0xff_ffff;
    int sequence = bytes.getInt() & 0xff_ffff;
    int key = bytes.getInt();
    Gid gid = new Gid(bytes.getLong(GID), bytes.getLong(GID + Long.BYTES));
    return new Keys(
        new QueuePairAddress(lid, number, sequence, gid),
        reads,
        key,
        bytes.getLong(VIRTUAL_ADDRESS));
  }
}
