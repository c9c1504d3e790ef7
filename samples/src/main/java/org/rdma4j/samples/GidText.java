package org.rdma4j.samples;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.stream.Collectors;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.address.Gid;

/** GIDs the way C programs print them. */
final class GidText {
  private static final int WORDS = 8;
  private static final String MAPPED_IPV4 = "00000000000000000000ffff";

  private GidText() {}

  /** As inet_ntop does: the longest run of zeros, of two words at least, is left out. */
  static String address(Gid gid) {
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

  /** That of an address of IPv6 in digits. */
  static Gid parse(String text) {
    try {
      // Without a colon it could be a name, which would be looked up.
      if (text.indexOf(':') >= 0) {
        byte[] bytes = InetAddress.getByName(text).getAddress();
        boolean mapped = bytes.length == 4;
        return Gid.ofHex((mapped ? MAPPED_IPV4 : "") + HexFormat.of().formatHex(bytes));
      }
    } catch (UnknownHostException notOne) {
      // Told below.
    }
    throw new Failure("\"%s\" is no GID: it is written as an address of IPv6".formatted(text));
  }

  /** Eight groups of four digits. */
  static String groups(Gid gid) {
    StringBuilder text = new StringBuilder();
    for (int word : words(gid)) {
      text.append(text.isEmpty() ? "" : ":").append(String.format(Locale.ROOT, "%04x", word));
    }
    return text.toString();
  }

  /** The GIDs of a port by their indices, for a message. */
  static String table(RdmaDevice device, int port) {
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
