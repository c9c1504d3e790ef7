package org.rdma4j.connection.wire;

import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

/**
 * What an untrue peer sends, by chance: each field is at its limits, beyond them, or as an honest
 * peer sends it. Most fields are honest, so that the others are not always found by the first
 * check.
 *
 * @param random chooses all fields
 * @param receiver the hello of the side that receives
 * @param address the memory that offers name
 * @param key the key of that memory
 * @param bytes the length of that memory
 */
public record Forgery(RandomGenerator random, Hello receiver, long address, int key, long bytes) {
  private static final int[] KINDS = {9, 77, 0x7f, 0x80, 0xff};
  private static final int[] FLAGS = {3, 6, 7, 8, 0x10, 0x40, 0x80, 0xff};

  /** Returns a message: a header, or a part of one, and what follows it. */
  public byte[] next() {
    ByteBuffer message =
        ByteBuffer.allocate(MessageHeader.BYTES + receiver.bufferBytes() + 2 * Long.BYTES);
    int kind = isWild() ? KINDS[below(KINDS.length)] : below(MessageKind.values().length);
    int flags = isWild() ? FLAGS[below(FLAGS.length)] : 1 << below(4) & MessageHeader.OFFER;
    if (kind == MessageKind.END.code() && !isWild()) {
      flags = 2 * below(3);
    }
    if (kind == MessageKind.MESSAGE.code() && !isWild() && below(3) == 0) {
      flags = MessageHeader.PACKED;
    }
    if (below(8) == 0) {
      flags |= MessageHeader.LACKED_CREDIT;
    }
    message.put((byte) kind).put((byte) flags);
    message.putShort((short) count()).putShort((short) count());
    message.putShort((short) (isWild() ? below(1 << Short.SIZE) : 0));
    message.putLong(isWild() ? length() : below(4));
    if ((flags & MessageHeader.OFFER) != 0) {
      message.put(offer().write());
    } else if ((flags & MessageHeader.PACKED) != 0) {
      pack(message);
    } else {
      message.position(message.position() + below(receiver.bufferBytes() + 1));
    }
    if (isWild()) {
      message.position(below(message.capacity() + 1));
    }
    byte[] sent = new byte[message.position()];
    message.get(0, sent);
    return sent;
  }

  /** Adds messages that are shorter than a buffer together, unless their lengths are wild. */
  private void pack(ByteBuffer message) {
    int most = receiver.bufferBytes() / 8;
    int first = isWild() ? below(1 << Short.SIZE) : below(most + 1);
    message.putShort(6, (short) first);
    skip(message, first);
    for (int i = below(4); i >= 0 && message.remaining() >= MessageHeader.LENGTH_BYTES; i--) {
      int next = isWild() ? (int) length() : below(most);
      message.putInt(next);
      skip(message, next);
    }
  }

  private static void skip(ByteBuffer message, int bytes) {
    message.position(message.position() + Math.clamp(bytes, 0, message.remaining()));
  }

  private Offered offer() {
    long total = isWild() ? length() : 1 + below(4 * receiver.bufferBytes());
    long offset = isWild() ? length() : 0;
    long length = isWild() ? length() : Math.min(total, bytes);
    return new Offered(
        isWild() ? (int) length() : below(3),
        total,
        offset,
        length,
        isWild() ? length() : address,
        isWild() ? (int) length() : key);
  }

  /**
   * Returns a number of credits or of fetched offers: mostly none, which an honest peer may send.
   */
  private int count() {
    int[] limits = {1, 2, receiver.receives(), Offer.MAX_UNFETCHED, MessageHeader.MAX_COUNT};
    return isWild() ? limits[below(limits.length)] + below(3) - 1 : 0;
  }

  private long length() {
    long[] limits = {
      0,
      1,
      Offer.BYTES,
      receiver.bufferBytes(),
      bytes,
      receiver.maxMessageBytes(),
      Integer.MAX_VALUE,
      1L << Integer.SIZE,
      1L << 60,
      Long.MAX_VALUE,
      random.nextLong()
    };
    return limits[below(limits.length)] + below(3) - 1;
  }

  private boolean isWild() {
    return below(12) == 0;
  }

  private int below(int bound) {
    return random.nextInt(bound);
  }
}
