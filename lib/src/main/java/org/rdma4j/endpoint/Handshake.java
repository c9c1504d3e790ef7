package org.rdma4j.endpoint;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.rdma4j.platform.Deadline;

/**
 * The exchange of addresses between two endpoints over TCP. The client sends its address, the
 * server sends its own once it can receive, and the client then confirms that it can receive too.
 * Each message is a header of 16 bytes (magic, version, kind, length) and as many bytes as the
 * length says.
 */
final class Handshake {
  /** It ends with a line end, which reveals a connection that converts line ends. */
  private static final byte[] MAGIC = "rdma4j\r\n".getBytes(StandardCharsets.US_ASCII);

  static final int VERSION = 1;
  static final int HEADER_BYTES = 8 + 2 + 2 + 4;

  private enum Kind {
    ADDRESS(0, EndpointAddress.ENCODED_BYTES),
    READY(1, 0);

    final int code;
    final int bytes;

    Kind(int code, int bytes) {
      this.code = code;
      this.bytes = bytes;
    }
  }

  /** Connects this side's queue pair. */
  interface Connect {
    void to(EndpointAddress remote);
  }

  private final Socket socket;
  private final Deadline deadline;

  Handshake(Socket socket, Deadline deadline) {
    this.socket = socket;
    this.deadline = deadline;
  }

  /**
   * Performs the server's part. The server's queue pair can receive before the client learns its
   * address.
   *
   * @return the client's address
   */
  EndpointAddress asServer(EndpointAddress local, Connect connect) throws IOException {
    EndpointAddress remote = EndpointAddress.decode(read(Kind.ADDRESS));
    connect.to(remote);
    write(Kind.ADDRESS, local.encode());
    read(Kind.READY);
    return remote;
  }

  /**
   * Performs the client's part.
   *
   * @return the server's address
   */
  EndpointAddress asClient(EndpointAddress local, Connect connect) throws IOException {
    write(Kind.ADDRESS, local.encode());
    EndpointAddress remote = EndpointAddress.decode(read(Kind.ADDRESS));
    connect.to(remote);
    write(Kind.READY, new byte[0]);
    return remote;
  }

  private void write(Kind kind, byte[] content) throws IOException {
    byte[] message =
        ByteBuffer.allocate(HEADER_BYTES + content.length)
            .put(MAGIC)
            .putShort((short) VERSION)
            .putShort((short) kind.code)
            .putInt(content.length)
            .put(content)
            .array();
    try {
      socket.getOutputStream().write(message);
    } catch (SocketException broken) {
      throw new HandshakeException(
          "the peer closed the TCP connection (%s); the error is in its own output"
              .formatted(broken.getMessage()),
          broken);
    }
  }

  private byte[] read(Kind kind) throws IOException {
    byte[] raw = read(HEADER_BYTES, kind);
    ByteBuffer header = ByteBuffer.wrap(raw);
    byte[] magic = new byte[MAGIC.length];
    header.get(magic);
    if (!Arrays.equals(magic, MAGIC)) {
      throw new HandshakeException(
          "the peer speaks another protocol, it sent \"%s\"; check the port"
              .formatted(printable(raw)));
    }
    int version = Short.toUnsignedInt(header.getShort());
    if (version != VERSION) {
      throw new HandshakeException(
          "the peer uses version %d of the handshake, this side version %d; use the same release of rdma4j on both sides"
              .formatted(version, VERSION));
    }
    int found = Short.toUnsignedInt(header.getShort());
    if (found != kind.code) {
      throw new HandshakeException(
          "the peer sent a message of kind %d, must be %s, which is %d"
              .formatted(found, kind, kind.code));
    }
    int bytes = header.getInt();
    if (bytes != kind.bytes) {
      throw new HandshakeException(
          "the peer's message %s has %s bytes, must have %d"
              .formatted(kind, Integer.toUnsignedString(bytes), kind.bytes));
    }
    return read(bytes, kind);
  }

  private byte[] read(int bytes, Kind kind) throws IOException {
    byte[] message = new byte[bytes];
    int filled = 0;
    try {
      while (filled < bytes) {
        deadline.apply(socket);
        int read = socket.getInputStream().read(message, filled, bytes - filled);
        if (read < 0) {
          throw new HandshakeException(
              "the peer closed the TCP connection after %d of %d bytes of its message %s; the error is in its own output"
                  .formatted(filled, bytes, kind));
        }
        filled += read;
      }
      return message;
    } catch (SocketTimeoutException late) {
      SocketTimeoutException described =
          new SocketTimeoutException(
              "the peer sent %d of %d bytes of its message %s within %s"
                  .formatted(filled, bytes, kind, deadline.timeout()));
      described.initCause(late);
      throw described;
    } catch (SocketException broken) {
      throw new HandshakeException(
          "the TCP connection broke after %d of %d bytes of the peer's message %s (%s)"
              .formatted(filled, bytes, kind, broken.getMessage()),
          broken);
    }
  }

  /** Returns the bytes with dots for those that could disturb a terminal or a log. */
  private static String printable(byte[] message) {
    StringBuilder text = new StringBuilder();
    for (byte b : message) {
      text.append(b >= ' ' && b < 0x7f ? (char) b : '.');
    }
    return text.toString();
  }
}
