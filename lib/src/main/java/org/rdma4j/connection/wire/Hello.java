package org.rdma4j.connection.wire;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * What each side sends about itself while they connect: the private data of the request, and that
 * of the answer.
 *
 * @param bufferBytes the length of the buffers that the side receives into, without the header
 * @param credits the number of messages that it receives at first, before it returns credits; 0 if
 *     it grants them in a message, before which the other side sends nothing
 * @param receives the number of credits that the other side may have at most
 * @param maxMessageBytes the length of the longest message that it receives
 * @param features what it knows beyond the first version 4: {@link #PACKED}, {@link #ONE_RECEIVE},
 *     and what later versions know
 */
public record Hello(
    int bufferBytes, int credits, int receives, long maxMessageBytes, int features) {
  /**
   * The least length of buffers. A peer with shorter ones would make each short message an offer,
   * which costs its sender more.
   */
  public static final int MIN_BUFFER_BYTES = 64;

  /** The feature that several messages may come in one SEND. */
  public static final int PACKED = 1;

  /**
   * The feature that messages of the protocol itself take one receive, and that the next one waits
   * until the peer has read the last.
   */
  public static final int ONE_RECEIVE = 2;

  /** All features that this version has. */
  public static final int FEATURES = PACKED | ONE_RECEIVE;

  /** The number of bytes that each peer writes. The features follow, and may be missing. */
  public static final int BYTES = 5 * Integer.BYTES + Long.BYTES + 1;

  /** The values until the hello of the peer has arrived. */
  public static final Hello NONE = new Hello(0, 0, 0, 0);

  private static final int MAGIC = 0x52344a43;
  private static final int VERSION = 4;

  /**
   * RoCE fills private data up with zeros, so a last byte that is not 0 shows that nothing is
   * missing.
   */
  private static final byte LAST = 0x5a;

  /** Creates the hello of a side that has no features. */
  public Hello(int bufferBytes, int credits, int receives, long maxMessageBytes) {
    this(bufferBytes, credits, receives, maxMessageBytes, 0);
  }

  /** Returns what was written; empty if another program or another version wrote it. */
  public static Optional<Hello> read(ByteBuffer privateData) {
    if (privateData.remaining() < BYTES
        || privateData.getInt() != MAGIC
        || privateData.getInt() != VERSION) {
      return Optional.empty();
    }
    Hello hello =
        new Hello(
            privateData.getInt(),
            privateData.getInt(),
            privateData.getInt(),
            privateData.getLong());
    boolean valid =
        hello.bufferBytes >= MIN_BUFFER_BYTES
            && hello.credits >= 0
            && hello.receives >= Math.max(1, hello.credits)
            && hello.maxMessageBytes >= 1
            && privateData.get() == LAST;
    return valid ? Optional.of(hello.with(readFeatures(privateData))) : Optional.empty();
  }

  /** Reads the features; none if the peer wrote none, whether zeros follow or nothing does. */
  private static int readFeatures(ByteBuffer rest) {
    return rest.remaining() < Integer.BYTES ? 0 : rest.getInt();
  }

  /** Returns the same hello with other features. */
  public Hello with(int otherFeatures) {
    return new Hello(bufferBytes, credits, receives, maxMessageBytes, otherFeatures);
  }

  public ByteBuffer write() {
    return ByteBuffer.allocate(BYTES + Integer.BYTES)
        .putInt(MAGIC)
        .putInt(VERSION)
        .putInt(bufferBytes)
        .putInt(credits)
        .putInt(receives)
        .putLong(maxMessageBytes)
        .put(LAST)
        .putInt(features)
        .flip();
  }
}
