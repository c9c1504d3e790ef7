package org.rdma4j.samples.command;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.stream.Collectors;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.Gid;

/** Formats GIDs as C programs print them, and parses them. */
public final class GidText {
  private static final int WORDS = 8;
  private static final String MAPPED_IPV4 = "00000000000000000000ffff";

  private GidText() {}

  /**
   * Formats a GID as an IPv6 address, as inet_ntop does: "::" stands for the longest run of zeros,
   * of at least two words.
   *
   * @param gid the GID
   * @return its text, such as {@code ::ffff:192.0.2.1}
   */
  public static String address(Gid gid) {
    int[] words = words(gid);
    int start = WORDS;
    int length = 1;
    for (int i = 0; i < WORDS; i++) {
      int end = i;
      while (end < WORDS && words[end] == 0) {
        end++;
      }
      if (end - i > length) {
        start = i;
        length = end - i;
      }
    }
    if (start == 0 && (length == 6 || (length == 5 && words[5] == 0xffff))) {
      return (length == 6 ? "::" : "::ffff:")
          + "%d.%d.%d.%d".formatted(words[6] >> 8, words[6] & 0xff, words[7] >> 8, words[7] & 0xff);
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < WORDS; i++) {
      if (i == start) {
        text.append("::");
        i += length - 1;
      } else {
        text.append(i == 0 || i == start + length ? "" : ":").append(Integer.toHexString(words[i]));
      }
    }
    return text.toString();
  }

  /**
   * Parses a GID.
   *
   * @param text a numeric IPv6 address
   * @return the GID
   * @throws Failure if the text is not one
   */
  public static Gid parse(String text) {
    String problem = "\"%s\" is not a GID, must be an IPv6 address such as fe80::1".formatted(text);
    // A text without a colon may be a host name, which getByName would look up.
    if (text.indexOf(':') < 0) {
      throw new Failure(problem);
    }
    try {
      byte[] bytes = InetAddress.getByName(text).getAddress();
      boolean mapped = bytes.length == 4;
      return Gid.ofHex((mapped ? MAPPED_IPV4 : "") + HexFormat.of().formatHex(bytes));
    } catch (UnknownHostException notNumeric) {
      throw new Failure(problem, notNumeric);
    }
  }

  /**
   * Formats a GID as eight groups of four digits.
   *
   * @param gid the GID
   * @return its text, such as {@code fe80:0000:0000:0000:0202:c9ff:fe12:34ab}
   */
  public static String groups(Gid gid) {
    StringBuilder text = new StringBuilder();
    for (int word : words(gid)) {
      text.append(text.isEmpty() ? "" : ":").append(String.format(Locale.ROOT, "%04x", word));
    }
    return text.toString();
  }

  /**
   * Lists the GIDs of a port with their indices, for a message.
   *
   * @param device the device
   * @param port the number of the port
   * @return the list, separated by commas
   */
  public static String table(RdmaDevice device, int port) {
    return device.gids().stream()
        .filter(entry -> entry.port() == port)
        .map(entry -> "%d (%s, %s)".formatted(entry.index(), address(entry.gid()), entry.type()))
        .collect(Collectors.joining(", "));
  }

  private static int[] words(Gid gid) {
    int[] words = new int[WORDS];
    for (int i = 0; i < WORDS; i++) {
      long half = i < WORDS / 2 ? gid.subnetPrefix() : gid.interfaceId();
      words[i] = (int) (half >>> (48 - 16 * (i % (WORDS / 2)))) & 0xffff;
    }
    return words;
  }
}
