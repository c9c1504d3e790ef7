package org.rdma4j.samples;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.rdma4j.verbs.Gid;
import org.rdma4j.verbs.QueuePairAddress;

/**
 * How the programs of rdma-core's ping-pong family tell each other, over TCP, where their queue
 * pairs are: a message of 52 bytes each way, then "done" from the client.
 */
final class PingPongExchange {
  static final int MESSAGE_BYTES = 52;
  private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);
  private static final Pattern MESSAGE =
      Pattern.compile("(\\p{XDigit}{4}):(\\p{XDigit}{6}):(\\p{XDigit}{6}):(\\p{XDigit}{32})\0");

  private PingPongExchange() {}

  /** Listens on all addresses of this machine. */
  static ServerSocket listen(int port) {
    try {
      // One connection is all that is ever accepted, as in C.
      return new ServerSocket(port, 1);
    } catch (BindException taken) {
      throw new Failure(
          "TCP port %d cannot be listened on (%s): end what uses it, or give both sides another -p"
              .formatted(port, taken.getMessage()),
          taken);
    } catch (IOException failed) {
      throw new Failure("TCP port %d cannot be listened on: %s".formatted(port, failed), failed);
    }
  }

  /**
   * Waits for the client and learns where its queue pair is, connects the own one, and only then
   * answers: the client sends as soon as it has the answer.
   */
  static QueuePairAddress asServer(
      ServerSocket listening,
      Duration timeout,
      QueuePairAddress local,
      Consumer<QueuePairAddress> connect) {
    try (Socket client = accept(listening, timeout)) {
      QueuePairAddress remote = parse(read(client, MESSAGE_BYTES, timeout));
      connect.accept(remote);
      client.getOutputStream().write(format(local));
      if (!Arrays.equals(read(client, DONE.length, timeout), DONE)) {
        throw new Failure(
            "the client did not end the exchange with \"done\": is it ibv_rc_pingpong?");
      }
      return remote;
    } catch (IOException failed) {
      throw broken("client", failed);
    }
  }

  private static Socket accept(ServerSocket listening, Duration timeout) throws IOException {
    listening.setSoTimeout(Math.toIntExact(timeout.toMillis()));
    try (listening) {
      return listening.accept();
    } catch (SocketTimeoutException nobody) {
      throw new Failure(
          "no client came to TCP port %d within %d s: start it, or wait longer with --timeout"
              .formatted(listening.getLocalPort(), timeout.toSeconds()),
          nobody);
    }
  }

  /** Tells the server where the own queue pair is, and learns where the server's is. */
  static QueuePairAddress asClient(
      String server, int port, Duration timeout, QueuePairAddress local) {
    try (Socket socket = connect(server, port, timeout)) {
      // In one write, since the C server reads it in one read.
      socket.getOutputStream().write(format(local));
      QueuePairAddress remote = parse(read(socket, MESSAGE_BYTES, timeout));
      socket.getOutputStream().write(DONE);
      return remote;
    } catch (IOException failed) {
      throw broken("server", failed);
    }
  }

  private static Socket connect(String server, int port, Duration timeout) {
    IOException last = new UnknownHostException(server);
    for (InetAddress address : addresses(server)) {
      Socket socket = new Socket();
      try {
        socket.connect(new InetSocketAddress(address, port), Math.toIntExact(timeout.toMillis()));
        return socket;
      } catch (IOException failed) {
        last = failed;
        close(socket);
      }
    }
    String where = server + " port " + port;
    if (last instanceof ConnectException) {
      throw new Failure(
          "no server at %s (%s): start it first, without a server name"
              .formatted(where, last.getMessage()),
          last);
    }
    throw new Failure("cannot reach a server at %s: %s".formatted(where, last), last);
  }

  private static InetAddress[] addresses(String server) {
    try {
      return InetAddress.getAllByName(server);
    } catch (UnknownHostException unknown) {
      throw new Failure("no host is named \"%s\"".formatted(server), unknown);
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException ignored) {
      // What failed before is what gets told.
    }
  }

  private static byte[] read(Socket socket, int bytes, Duration timeout) throws IOException {
    long deadline = System.nanoTime() + timeout.toNanos();
    byte[] message = new byte[bytes];
    for (int filled = 0; filled < bytes; ) {
      long millis = Duration.ofNanos(deadline - System.nanoTime()).toMillis();
      if (millis <= 0) {
        throw new SocketTimeoutException();
      }
      socket.setSoTimeout(Math.toIntExact(millis));
      int read = socket.getInputStream().read(message, filled, bytes - filled);
      if (read < 0) {
        throw new Failure(
            ("the peer closed the TCP connection after %d of %d bytes: is it ibv_rc_pingpong, and"
                    + " what does it print?")
                .formatted(filled, bytes));
      }
      filled += read;
    }
    return message;
  }

  private static Failure broken(String peer, IOException failure) {
    return failure instanceof SocketTimeoutException
        ? new Failure(
            "the %s connected, but sent nothing more: is it ibv_rc_pingpong?".formatted(peer),
            failure)
        : new Failure(
            "the exchange with the %s failed (%s): what does it print?"
                .formatted(peer, failure.getMessage()),
            failure);
  }

  /** LID, queue pair number, sequence number and GID in hexadecimal digits, and a NUL. */
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

  static QueuePairAddress parse(byte[] message) {
    Matcher fields = MESSAGE.matcher(new String(message, StandardCharsets.ISO_8859_1));
    if (!fields.matches()) {
      throw new Failure(
          "the peer sent \"%s\", which is no address of a queue pair: is it ibv_rc_pingpong?"
              .formatted(printable(message)));
    }
    return new QueuePairAddress(
        Integer.parseInt(fields.group(1), 16),
        Integer.parseInt(fields.group(2), 16),
        Integer.parseInt(fields.group(3), 16),
        Gid.ofHex(fields.group(4)));
  }

  /** For the terminal, which noise must not reach. */
  private static String printable(byte[] message) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    for (byte b : message) {
      text.write(b >= ' ' && b < 0x7f ? b : '.');
    }
    return text.toString(StandardCharsets.US_ASCII);
  }
}
