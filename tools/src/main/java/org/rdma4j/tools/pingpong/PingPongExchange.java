package org.rdma4j.tools.pingpong;

import java.io.ByteArrayOutputStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rdma4j.tools.command.Failure;
import org.rdma4j.tools.command.TcpPeer;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;

/**
 * The exchange of addresses over TCP, in the format of rdma-core's ping-pong programs: in each
 * direction a message of 52 bytes for each address, then "done" from the client.
 */
final class PingPongExchange {
  static final int MESSAGE_BYTES = 52;
  private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);
  private static final Pattern MESSAGE =
      Pattern.compile("(\\p{XDigit}{4}):(\\p{XDigit}{6}):(\\p{XDigit}{6}):(\\p{XDigit}{32})\0");

  private final String program;
  private final Duration timeout;

  /**
   * Creates an exchange with another process.
   *
   * @param program the name of the program in C, which the peer should be
   * @param timeout the longest time that each step may take
   */
  PingPongExchange(String program, Duration timeout) {
    this.program = program;
    this.timeout = timeout;
  }

  /**
   * Waits for the client, reads its addresses, connects the local queue pairs and only then
   * answers, since the client sends as soon as it has the answer.
   */
  List<QueuePairAddress> asServer(
      ServerSocket listening,
      List<QueuePairAddress> local,
      Consumer<List<QueuePairAddress>> connect) {
    try (TcpPeer client = TcpPeer.accept(listening, program, timeout)) {
      List<QueuePairAddress> remote = readAddresses(client, local.size());
      connect.accept(remote);
      client.write(formatAll(local));
      if (!Arrays.equals(client.read(DONE.length), DONE)) {
        throw new Failure(
            "the client did not end the exchange with \"done\"; check that it is %s"
                .formatted(program));
      }
      return remote;
    }
  }

  /** Sends the local addresses to the server, and reads the server's. */
  List<QueuePairAddress> asClient(String server, int port, List<QueuePairAddress> local) {
    try (TcpPeer peer = TcpPeer.connect(server, port, program, timeout)) {
      // One write: the server in C expects a whole message from a single read.
      peer.write(formatAll(local));
      List<QueuePairAddress> remote = readAddresses(peer, local.size());
      peer.write(DONE);
      return remote;
    }
  }

  private static byte[] formatAll(List<QueuePairAddress> addresses) {
    ByteArrayOutputStream messages = new ByteArrayOutputStream();
    addresses.forEach(address -> messages.writeBytes(format(address)));
    return messages.toByteArray();
  }

  private List<QueuePairAddress> readAddresses(TcpPeer peer, int count) {
    byte[] messages = peer.read(count * MESSAGE_BYTES);
    List<QueuePairAddress> addresses = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      addresses.add(
          parse(Arrays.copyOfRange(messages, i * MESSAGE_BYTES, (i + 1) * MESSAGE_BYTES)));
    }
    return addresses;
  }

  /** Formats LID, queue pair number, sequence number and GID in hexadecimal digits, and a NUL. */
  static byte[] format(QueuePairAddress address) {
    return String.format(
            Locale.ROOT,
            "%04x:%06x:%06x:%s\0",
            address.lid(),
            address.queuePairNumber(),
            address.sequenceNumber(),
            address.gid().toHex())
        .getBytes(StandardCharsets.US_ASCII);
  }

  QueuePairAddress parse(byte[] message) {
    Matcher fields = MESSAGE.matcher(new String(message, StandardCharsets.ISO_8859_1));
    if (!fields.matches()) {
      throw new Failure(
          "the peer sent \"%s\", which is not the address of a queue pair; check that it is %s"
              .formatted(printable(message), program));
    }
    return new QueuePairAddress(
        Integer.parseInt(fields.group(1), 16),
        Integer.parseInt(fields.group(2), 16),
        Integer.parseInt(fields.group(3), 16),
        Gid.ofHex(fields.group(4)));
  }

  /** Replaces bytes that could change the state of a terminal. */
  private static String printable(byte[] message) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    for (byte b : message) {
      text.write(b >= ' ' && b < 0x7f ? b : '.');
    }
    return text.toString(StandardCharsets.US_ASCII);
  }
}
