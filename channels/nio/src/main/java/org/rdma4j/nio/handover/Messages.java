package org.rdma4j.nio.handover;

import java.nio.ByteBuffer;

/** The messages of the handover whose form is not that of a {@link Claim}. */
public final class Messages {
  /** "rdma4j", and the version of all these messages. */
  private static final long MAGIC = 0x7264_6d61_346a_0005L;

  private Messages() {}

  /**
   * Returns the first message of a server.
   *
   * @param challenge its random bytes
   * @return the bytes of the message
   */
  public static ByteBuffer challenge(byte[] challenge) {
    return ByteBuffer.allocate(Long.BYTES + challenge.length).putLong(MAGIC).put(challenge).flip();
  }

  /**
   * Reads the first message of a server.
   *
   * @param message its bytes
   * @return its random bytes
   * @throws HandoverException if it is of another version, or something else
   */
  public static byte[] readChallenge(ByteBuffer message) throws HandoverException {
    if (message.remaining() != Long.BYTES + Proof.BYTES || message.getLong() != MAGIC) {
      throw new HandoverException("the first message of the peer is no challenge of this version");
    }
    return Proof.bytes(message);
  }

  /**
   * Returns the message that grants a claim.
   *
   * @param token the proof of the server
   * @return the bytes of the message
   */
  public static ByteBuffer grant(byte[] token) {
    return ByteBuffer.wrap(token);
  }

  /**
   * Reads the message that grants a claim.
   *
   * @param message its bytes
   * @return the proof of the server
   * @throws HandoverException if it is something else
   */
  public static byte[] readGrant(ByteBuffer message) throws HandoverException {
    if (message.remaining() != Proof.BYTES) {
      throw new HandoverException(
          "the grant of the peer has " + message.remaining() + " bytes, must have " + Proof.BYTES);
    }
    return Proof.bytes(message);
  }

  /**
   * Returns the message with which a client confirms that it has the grant. Only then the server
   * may send over RDMA: a client that gives up before knows that the server has not.
   *
   * @return the bytes of the message
   */
  public static ByteBuffer confirmation() {
    return ByteBuffer.allocate(0);
  }

  /**
   * Reads the message that confirms a grant.
   *
   * @param message its bytes
   * @throws HandoverException if it is something else
   */
  public static void readConfirmation(ByteBuffer message) throws HandoverException {
    if (message.hasRemaining()) {
      throw new HandoverException(
          "the confirmation of the peer has " + message.remaining() + " bytes, must have none");
    }
  }

  /**
   * Returns the message that refuses a claim because the channel has ended on the side of the
   * server. Another one may be claimed. The end of the RDMA connection follows.
   *
   * @return the bytes of the message
   */
  public static ByteBuffer channelEnded() {
    return ByteBuffer.allocate(0);
  }

  /**
   * Returns whether a message refuses a claim because the channel has ended.
   *
   * @param message its bytes
   * @return whether it is that, and no grant
   */
  public static boolean isChannelEnded(ByteBuffer message) {
    return !message.hasRemaining();
  }

  /**
   * Returns what a peer may ask for: that so many bytes were delivered over RDMA.
   *
   * @param bytes their number
   * @param ended whether the end behind them is asked for, too
   * @return the content of the question
   */
  public static long delivered(long bytes, boolean ended) {
    return bytes << 1 | (ended ? 1 : 0);
  }

  /**
   * Returns whether a side has what its peer has asked for.
   *
   * @param question the content of the question
   * @param bytes the number of bytes that were delivered
   * @param ended whether the end was delivered
   * @return whether to answer
   */
  public static boolean isDelivered(long question, long bytes, boolean ended) {
    return bytes >= question >>> 1 && (ended || (question & 1) == 0);
  }

  /**
   * Returns the request that asks what was {@link #delivered}.
   *
   * @param question its content
   * @return the bytes of the request
   */
  public static ByteBuffer deliveryQuestion(long question) {
    return ByteBuffer.allocate(Long.BYTES).putLong(question).flip();
  }

  /**
   * Reads a request that is longer than those of the handover.
   *
   * @param message its bytes
   * @return the content of the question
   * @throws HandoverException if it is something else
   */
  public static long readDeliveryQuestion(ByteBuffer message) throws HandoverException {
    if (message.remaining() != Long.BYTES) {
      throw new HandoverException(
          "the question of the peer has "
              + message.remaining()
              + " bytes, must have "
              + Long.BYTES);
    }
    return message.getLong(message.position());
  }

  /**
   * Returns the message that names where a direction moves to RDMA.
   *
   * @param offset the number of bytes that TCP carried
   * @return the bytes of the message
   */
  public static ByteBuffer offset(long offset) {
    return ByteBuffer.allocate(Long.BYTES).putLong(offset).flip();
  }

  /**
   * Reads the message that names where a direction moves to RDMA.
   *
   * @param message its bytes
   * @return the number of bytes that TCP carried
   * @throws HandoverException if it is something else
   */
  public static long readOffset(ByteBuffer message) throws HandoverException {
    if (message.remaining() != Long.BYTES) {
      throw new HandoverException(
          "the offset of the peer has " + message.remaining() + " bytes, must have " + Long.BYTES);
    }
    return message.getLong();
  }
}
