package org.rdma4j.tools.perftest;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.attribute.Mtu;

/** The messages of perftest other than addresses, each of which both sides send. */
final class Handshake {
  /** The version of perftest whose messages these are: that of Debian 12. */
  static final String VERSION = "6.06";

  /** Older versions have other messages. */
  private static final double OLDEST_VERSION = 5.70;

  private static final int VERSION_BYTES = 16;
  private static final int MTU_BYTES = 2;
  private static final int CACHE_LINE = 64;
  private static final Path CACHE_LINE_FILE =
      Path.of("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size");

  private final Control control;
  private final String program;

  /**
   * Uses a channel.
   *
   * @param control the channel
   * @param program the program in C that the peer should be, for messages
   */
  Handshake(Control control, String program) {
    this.control = control;
    this.program = program;
  }

  /**
   * What both sides use.
   *
   * @param peerVersion the version of the peer
   * @param cycle the number of bytes in which short messages take turns
   * @param line the length of a line of the cache in bytes
   * @param mtu the path MTU
   */
  record Terms(String peerVersion, int cycle, int line, Mtu mtu) {
    /** Returns a line that names both versions, if they differ. */
    Optional<String> warning() {
      return peerVersion.equals(VERSION)
          ? Optional.empty()
          : Optional.of(
              "the peer is perftest %s, this program does what perftest %s does; if the test fails, use version %s on the other side"
                  .formatted(peerVersion, VERSION, VERSION));
    }
  }

  /** Agrees on the smaller MTU, and on the larger of everything else. */
  Terms agree(Mtu mtu) {
    String version = exchangeVersion();
    int cycle = exchangeLarger(Math.toIntExact(MemoryRegion.pageSize()));
    int line = exchangeLarger(cacheLine());
    return new Terms(version, cycle, line, exchangeMtu(mtu));
  }

  private String exchangeVersion() {
    byte[] mine = Arrays.copyOf(ascii(VERSION), VERSION_BYTES);
    String theirs = text(control.exchange(mine, false));
    if (!theirs.matches("\\d+(\\.\\d+)*")) {
      throw new Failure(
          "the peer sent \"%s\" instead of its version; check that it is %s, and that both sides or neither have -R"
              .formatted(theirs.replaceAll("[^ -~]", "."), program));
    }
    if (number(theirs) < OLDEST_VERSION) {
      throw new Failure(
          "the peer is perftest %s, this program does what perftest %s does and needs at least %.2f; upgrade the other side"
              .formatted(theirs, VERSION, OLDEST_VERSION));
    }
    return theirs;
  }

  /** Reads the first two numbers of a version, as atof does. */
  private static double number(String version) {
    String[] parts = version.split("\\.", 3);
    return Double.parseDouble(parts.length == 1 ? version : parts[0] + "." + parts[1]);
  }

  private int exchangeLarger(int mine) {
    byte[] message = ByteBuffer.allocate(Integer.BYTES).putInt(mine).array();
    int theirs = ByteBuffer.wrap(control.exchange(message, false)).getInt();
    if (theirs < 1 || theirs > 1 << 30) {
      throw new Failure(
          "the peer sent %d as the size of a page or of a line of its cache; check that it is %s"
              .formatted(theirs, program));
    }
    return Math.max(mine, theirs);
  }

  private Mtu exchangeMtu(Mtu mine) {
    byte[] message = Arrays.copyOf(ascii(String.valueOf(mine.value())), MTU_BYTES);
    String theirs = text(control.exchange(message, false));
    for (Mtu each : Mtu.values()) {
      if (theirs.equals(String.valueOf(each.value()))) {
        return each.value() < mine.value() ? each : mine;
      }
    }
    return mine;
  }

  /**
   * Exchanges the results of a bandwidth test.
   *
   * @param mine the result of this side
   * @param patiently whether the peer may still measure
   * @return the result of the peer
   */
  Bandwidth.Report exchange(Bandwidth.Report mine, boolean patiently) {
    return new Bandwidth.Report(
        exchange(mine.size(), patiently),
        exchange(mine.messages(), false),
        exchange(mine.peak()),
        exchange(mine.average()),
        exchange(mine.millionsPerSecond()));
  }

  private long exchange(long mine, boolean patiently) {
    byte[] message = ByteBuffer.allocate(Long.BYTES).putLong(mine).array();
    return ByteBuffer.wrap(control.exchange(message, patiently)).getLong();
  }

  private double exchange(double mine) {
    return Double.longBitsToDouble(exchange(Double.doubleToRawLongBits(mine), false));
  }

  private static int cacheLine() {
    try {
      return Integer.parseInt(Files.readString(CACHE_LINE_FILE).strip());
    } catch (IOException | NumberFormatException unknown) {
      // Not every machine has it; this is the line of nearly all processors.
      return CACHE_LINE;
    }
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns the text up to the first zero byte. */
  private static String text(byte[] bytes) {
    String all = new String(bytes, StandardCharsets.ISO_8859_1);
    int end = all.indexOf('\0');
    return end < 0 ? all : all.substring(0, end);
  }
}
