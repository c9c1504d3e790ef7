package org.rdma4j.nio.handover;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** What a client says about the TCP connection that an RDMA connection belongs to. */
public final class Claim {
  private static final int MAX_NAME = 256;
  private static final Pattern NAME = Pattern.compile("[0-9A-Za-z.: ]*");

  private final String connection;
  private final long sent;
  private final long received;
  private final byte[] nonce;
  private final byte[] token;

  Claim(String connection, long sent, long received, byte[] nonce, byte[] token) {
    this.connection = connection;
    this.sent = sent;
    this.received = received;
    this.nonce = nonce;
    this.token = token;
  }

  /**
   * Returns which connection it is.
   *
   * @return its addresses and ports, that of the client first
   */
  public String connection() {
    return connection;
  }

  /** Returns the number of bytes that the client has written to it. */
  long sent() {
    return sent;
  }

  /** Returns the number of bytes that the client has read from it. */
  long received() {
    return received;
  }

  /** Returns random bytes of the client. */
  byte[] nonce() {
    return nonce;
  }

  /** Returns the {@linkplain Proof proof}. */
  byte[] token() {
    return token;
  }

  /** Returns the same claim with a proof. */
  Claim with(byte[] proof) {
    return new Claim(connection, sent, received, nonce, proof);
  }

  /**
   * Returns the message.
   *
   * @return its bytes
   */
  public ByteBuffer encode() {
    byte[] name = connection.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(nonce.length + token.length + 2 * Long.BYTES + name.length)
        .put(nonce)
        .put(token)
        .putLong(sent)
        .putLong(received)
        .put(name)
        .flip();
  }

  /**
   * Reads a message.
   *
   * @param message its bytes
   * @return the claim
   * @throws HandoverException if it is not one
   */
  public static Claim decode(ByteBuffer message) throws HandoverException {
    int length = message.remaining();
    try {
      byte[] nonce = Proof.bytes(message);
      byte[] token = Proof.bytes(message);
      long sent = message.getLong();
      long received = message.getLong();
      if (sent < 0 || received < 0 || message.remaining() > MAX_NAME) {
        throw new HandoverException("the claim of the peer has numbers that are out of range");
      }
      String name = StandardCharsets.UTF_8.decode(message).toString();
      if (!NAME.matcher(name).matches()) {
        // It is logged, and a terminal must not obey what a peer sends.
        throw new HandoverException("the claim of the peer does not name addresses and ports");
      }
      return new Claim(name, sent, received, nonce, token);
    } catch (BufferUnderflowException tooShort) {
      throw new HandoverException("the claim of the peer has only " + length + " bytes");
    }
  }
}
