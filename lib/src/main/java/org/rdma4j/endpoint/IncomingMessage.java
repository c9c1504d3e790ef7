package org.rdma4j.endpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A message of the handshake, as its bytes arrive. Each message is a header of 16 bytes (magic,
 * version, kind, length) and as many bytes as the length says.
 */
final class IncomingMessage {
  /** It ends with a line end, which reveals a connection that converts line ends. */
  private static final byte[] MAGIC = "rdma4j\r\n".getBytes(StandardCharsets.US_ASCII);

  private static final int VERSION = 2;
  private static final int HEADER_BYTES = 8 + 2 + 2 + 4;

  /** What a message says. */
  enum Kind {
    /** The address of the sender. */
    ADDRESS(0, EndpointAddress.ENCODED_BYTES),
    /** The client can receive. */
    READY(1, 0),
    /** The server has accepted the client. */
    ACCEPTED(2, 0);

    private final int code;
    private final int bytes;

    Kind(int code, int bytes) {
      this.code = code;
      this.bytes = bytes;
    }

    /** Returns a message with this content, as it is sent. */
    ByteBuffer encode(byte[] content) {
      return ByteBuffer.allocate(HEADER_BYTES + content.length)
          .put(MAGIC)
          .putShort((short) VERSION)
          .putShort((short) code)
          .putInt(content.length)
          .put(content)
          .flip();
    }
  }

  private final Kind kind;
  private final ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
  private final ByteBuffer content;

  IncomingMessage(Kind kind) {
    this.kind = kind;
    this.content = ByteBuffer.allocate(kind.bytes);
  }

  /**
   * Reads the bytes that are there, of this message only. If the channel blocks, it waits for the
   * first of them.
   *
   * @return whether the message is complete
   * @throws HandshakeException if it is not such a message, or the peer closed the connection
   * @throws IOException if the connection fails
   */
  boolean readFrom(ReadableByteChannel channel) throws IOException {
    if (header.hasRemaining()) {
      read(channel, header);
      if (header.hasRemaining()) {
        return false;
      }
      checkHeader();
    }
    if (content.hasRemaining()) {
      read(channel, content);
    }
    return !content.hasRemaining();
  }

  /** Returns the content of a complete message. */
  byte[] content() {
    return content.array();
  }

  /** Returns how much has arrived, for messages to people. */
  String progress() {
    ByteBuffer part = header.hasRemaining() ? header : content;
    return "%d of %d bytes of its message %s".formatted(part.position(), part.capacity(), kind);
  }

  private void read(ReadableByteChannel channel, ByteBuffer part) throws IOException {
    if (channel.read(part) < 0) {
      throw new HandshakeException(
          "the peer closed the TCP connection after %s; the error is in its own output"
              .formatted(progress()));
    }
  }

  private void checkHeader() throws HandshakeException {
    ByteBuffer fields = header.duplicate().flip();
    byte[] magic = new byte[MAGIC.length];
    fields.get(magic);
    if (!Arrays.equals(magic, MAGIC)) {
      throw new HandshakeException(
          "the peer speaks another protocol, it sent \"%s\"; check the port"
              .formatted(printable(header.array())));
    }
    int version = Short.toUnsignedInt(fields.getShort());
    if (version != VERSION) {
      throw new HandshakeException(
          "the peer uses version %d of the handshake, this side version %d; use the same release of rdma4j on both sides"
              .formatted(version, VERSION));
    }
    int found = Short.toUnsignedInt(fields.getShort());
    if (found != kind.code) {
      throw new HandshakeException(
          "the peer sent a message of kind %d, must be %s, which is %d"
              .formatted(found, kind, kind.code));
    }
    int bytes = fields.getInt();
    if (bytes != kind.bytes) {
      throw new HandshakeException(
          "the peer's message %s has %s bytes, must have %d"
              .formatted(kind, Integer.toUnsignedString(bytes), kind.bytes));
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
