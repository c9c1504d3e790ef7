package org.rdma4j.nio.handover;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection whose RDMA connection has failed, and that goes on over TCP. Each end
 * sends a record behind the last byte that it had written to TCP before the upgrade: how many bytes
 * were delivered to it over RDMA, and how many it has accepted from its program. An end that does
 * not know where that is finds the record. The rest of these follows, and then what the program
 * writes.
 *
 * <p>Behind its record, each end sends {@link #READY}, as soon as no thread of it reads from TCP
 * without knowing where the stream ends there. The other end sends the rest only then.
 *
 * <p>The records are authenticated with a key that both ends have derived from the upgrade, and
 * there is one resume for each upgrade, so a record cannot be repeated. Counts that do not fit are
 * an error, and the connection must be reset: a byte is never guessed.
 *
 * <p>One thread at a time may use it.
 */
public final class Resume {
  /** The length of a record. */
  public static final int RECORD_BYTES = 3 * Long.BYTES + Proof.BYTES;

  /** The byte behind a record: the rest may follow. */
  public static final byte READY = 1;

  /** The byte instead of a record: this end cannot resume. No record begins with it. */
  public static final byte REFUSAL = 2;

  /** The first byte of a record, which is in no text: a search holds back what begins with it. */
  private static final byte FIRST = (byte) 0xf5;

  /** {@link #FIRST}, "dma4jR", and the version of the record. */
  private static final long MAGIC = 0xf564_6d61_346a_5202L;

  private final byte[] key;
  private final boolean client;
  private final long sent;
  private final long delivered;
  private final long held;

  /** How many bytes of the peer must still come before its end may; negative before its record. */
  private long missing = -1;

  private boolean ended;

  /**
   * Creates the end of a connection that resumes.
   *
   * @param key the key of the upgrade
   * @param client whether this end has connected
   * @param sent the number of bytes that were accepted for RDMA
   * @param delivered the number of bytes that came over RDMA; no more may come
   * @param held the number of the last accepted bytes that can be sent again
   */
  public Resume(byte[] key, boolean client, long sent, long delivered, long held) {
    if (sent < 0 || delivered < 0 || held < 0 || held > sent) {
      throw new IllegalArgumentException(
          "sent, delivered and held are %d, %d and %d: must not be negative, and held not more than sent"
              .formatted(sent, delivered, held));
    }
    this.key = key.clone();
    this.client = client;
    this.sent = sent;
    this.delivered = delivered;
    this.held = held;
  }

  /**
   * Returns the record of this end, to be written to TCP before all else.
   *
   * @param offset the number of bytes that this end has written to TCP before
   * @return its bytes
   */
  public ByteBuffer record(long offset) {
    return ByteBuffer.allocate(RECORD_BYTES)
        .putLong(MAGIC)
        .putLong(delivered)
        .putLong(sent)
        .put(token(key, client, offset, delivered, sent))
        .flip();
  }

  /**
   * Returns whether a peer that resumes may have sent some bytes.
   *
   * @param bytes the first ones behind those of the stream; their position stays as it is
   * @return false if they do not begin as a record does
   */
  public static boolean isBegin(ByteBuffer bytes) {
    if (bytes.hasRemaining() && bytes.get(bytes.position()) != FIRST) {
      return false;
    }
    int length = Math.min(bytes.remaining(), Long.BYTES);
    ByteBuffer magic = ByteBuffer.allocate(Long.BYTES).putLong(0, MAGIC);
    return bytes.slice(bytes.position(), length).equals(magic.limit(length));
  }

  /**
   * Returns whether some bytes begin with the record of a peer.
   *
   * @param bytes at least as many as a record has; their position stays as it is
   * @param key the key of the upgrade
   * @param ofClient whether the peer has connected
   * @param offset the number of bytes that have come over TCP before
   */
  static boolean isRecord(ByteBuffer bytes, byte[] key, boolean ofClient, long offset) {
    ByteBuffer record = bytes.slice();
    return record.getLong() == MAGIC
        && isAuthentic(key, ofClient, offset, record.getLong(), record.getLong(), record);
  }

  private static boolean isAuthentic(
      byte[] key, boolean ofClient, long offset, long delivered, long sent, ByteBuffer token) {
    return Proof.equal(Proof.bytes(token), token(key, ofClient, offset, delivered, sent));
  }

  private static byte[] token(
      byte[] key, boolean ofClient, long offset, long delivered, long sent) {
    ByteBuffer text = ByteBuffer.allocate(1 + 4 * Long.BYTES);
    text.put((byte) (ofClient ? 'c' : 's'));
    text.putLong(MAGIC).putLong(offset).putLong(delivered).putLong(sent);
    return Proof.authenticate(key, text.array());
  }

  /**
   * Takes the record of the peer.
   *
   * @param record its bytes
   * @param offset the number of bytes that have come over TCP before
   * @return how many of the last accepted bytes must be sent again
   * @throws HandoverException if it is not authentic, or the bytes cannot be known; then the
   *     connection must be reset
   */
  public long accept(ByteBuffer record, long offset) throws HandoverException {
    if (missing >= 0) {
      throw new IllegalStateException("the peer's record was accepted before");
    }
    if (record.remaining() != RECORD_BYTES || record.getLong() != MAGIC) {
      throw new HandoverException("the peer has sent something other than a resume record");
    }
    long peerDelivered = record.getLong();
    long peerSent = record.getLong();
    if (!isAuthentic(key, !client, offset, peerDelivered, peerSent, record)) {
      throw new HandoverException("the authentication of the peer's resume record failed");
    }
    if (peerDelivered < 0 || peerDelivered > sent) {
      throw new HandoverException(
          "the peer reports %d delivered bytes, but only %d were sent"
              .formatted(peerDelivered, sent));
    }
    if (peerSent < delivered) {
      throw new HandoverException(
          "the peer reports %d sent bytes, but %d were delivered".formatted(peerSent, delivered));
    }
    long again = sent - peerDelivered;
    if (again > held) {
      throw new HandoverException(
          "the peer lacks the last %d bytes, and only %d are still held".formatted(again, held));
    }
    missing = peerSent - delivered;
    return again;
  }

  /**
   * Returns whether the peer's record was accepted, so that TCP brings its next bytes.
   *
   * @return whether {@link #accept} has succeeded
   */
  public boolean isAccepted() {
    return missing >= 0;
  }

  /**
   * Records that bytes were read from TCP, behind the peer's record.
   *
   * @param bytes their number
   */
  public void read(long bytes) {
    missing = Math.max(0, missing - bytes);
  }

  /**
   * Returns whether all was read from TCP that the peer had accepted for RDMA.
   *
   * @return whether nothing of it is missing
   */
  public boolean hasAll() {
    return missing == 0;
  }

  /** Records that TCP has ended. */
  public void tcpEnded() {
    ended = true;
  }

  /**
   * Returns where a reader gets its next bytes, once it has read what came over RDMA.
   *
   * @return the source; null before the peer's record was accepted
   */
  public Handover.@Nullable Source source() {
    if (missing < 0) {
      return null;
    }
    if (!ended) {
      return Handover.Source.TCP;
    }
    return missing > 0 ? Handover.Source.RESET : Handover.Source.END;
  }
}
