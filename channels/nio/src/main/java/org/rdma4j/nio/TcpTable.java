package org.rdma4j.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The TCP connections of this host as the kernel lists them. So the end of a connection is known
 * without a read, which might block and shows nothing after the input was shut down.
 *
 * <p>Many connections may end at the same time, and the table is long then. So they share a copy of
 * it.
 */
final class TcpTable {
  /** How a TCP connection has ended on the side of the peer. */
  enum State {
    /** It has not ended. */
    OPEN,
    /** The peer has ended its output. */
    ENDED,
    /** It was reset, or the kernel does not say. */
    RESET
  }

  private static final Path[] TABLES = {Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6")};
  private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final int COLUMN_LOCAL = 1;
  private static final int COLUMN_REMOTE = 2;
  private static final int COLUMN_STATE = 3;

  /** The first twelve bytes of an IPv4 address in a socket of IPv6. */
  private static final String MAPPED = hex(new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1});

  private Map<String, String> states = Map.of();
  private long read = System.nanoTime() - FRESH_NANOS;

  /** Returns how a connection of this host has ended. */
  synchronized State state(InetSocketAddress local, InetSocketAddress remote) {
    if (System.nanoTime() - read >= FRESH_NANOS) {
      try {
        states = read();
      } catch (IOException | UncheckedIOException notReadable) {
        states = Map.of();
      }
      read = System.nanoTime();
    }
    return switch (states.getOrDefault(hex(local) + ' ' + hex(remote), "")) {
      // ESTABLISHED, FIN_WAIT1, FIN_WAIT2: the peer has not ended its output.
      case "01", "04", "05" -> State.OPEN;
      // TIME_WAIT, CLOSE_WAIT, LAST_ACK, CLOSING: it has.
      case "06", "08", "09", "0B" -> State.ENDED;
      default -> State.RESET;
    };
  }

  private static Map<String, String> read() throws IOException {
    Map<String, String> states = new HashMap<>();
    for (Path table : TABLES) {
      try (var lines = Files.lines(table)) {
        lines
            .map(line -> line.trim().split(" +", COLUMN_STATE + 2))
            .filter(columns -> columns.length > COLUMN_STATE)
            .forEach(
                columns ->
                    states.put(
                        unmapped(columns[COLUMN_LOCAL]) + ' ' + unmapped(columns[COLUMN_REMOTE]),
                        columns[COLUMN_STATE]));
      } catch (NoSuchFileException noIpv6) {
        // A kernel without IPv6 has no table of it.
      }
    }
    return states;
  }

  private static String unmapped(String address) {
    return address.startsWith(MAPPED) ? address.substring(MAPPED.length()) : address;
  }

  private static String hex(InetSocketAddress address) {
    return hex(address.getAddress().getAddress()) + ":%04X".formatted(address.getPort());
  }

  /** The kernel prints each group of four bytes as a number of this machine's byte order. */
  private static String hex(byte[] address) {
    ByteBuffer words = ByteBuffer.allocate(address.length);
    ByteBuffer from = ByteBuffer.wrap(address).order(ByteOrder.nativeOrder());
    while (from.hasRemaining()) {
      words.putInt(from.getInt());
    }
    return HexFormat.of().withUpperCase().formatHex(words.array());
  }
}
