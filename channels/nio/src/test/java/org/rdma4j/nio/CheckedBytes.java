package org.rdma4j.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;

/** A stream whose bytes a reader knows by their positions. */
final class CheckedBytes {
  private static final int MAX_PIECE = 100_000;

  /**
   * The stream repeats this. Its length is a prime, so all is wrong after lost or repeated bytes.
   */
  private static final byte[] PATTERN = new byte[999_983];

  static {
    new Random(PATTERN.length).nextBytes(PATTERN);
  }

  private CheckedBytes() {}

  /** Returns the next bytes of the stream, as many as follow in the pattern but not more. */
  private static ByteBuffer expected(long position, int atMost) {
    int begin = (int) (position % PATTERN.length);
    return ByteBuffer.wrap(PATTERN, begin, Math.min(atMost, PATTERN.length - begin));
  }

  /** Writes pieces of random lengths until the channel fails. */
  static long write(SocketChannel channel, Random random) {
    return write(channel, random, position -> true);
  }

  /**
   * Writes pieces of random lengths until the channel fails.
   *
   * @param goesOn whether to go on after a number of bytes
   * @return the number of bytes, with all those of a write that has failed
   */
  static long write(SocketChannel channel, Random random, LongPredicate goesOn) {
    ByteBuffer piece = ByteBuffer.allocate(MAX_PIECE);
    long position = 0;
    try {
      while (goesOn.test(position)) {
        piece.clear().limit(1 + random.nextInt(MAX_PIECE));
        while (piece.hasRemaining()) {
          piece.put(expected(position + piece.position(), piece.remaining()));
        }
        // A close in another thread may end the write in the middle: it returns a part then.
        position += channel.write(piece.flip());
      }
    } catch (IOException ended) {
      return position + piece.limit();
    }
    return position;
  }

  /**
   * Reads until the stream ends or fails.
   *
   * @return the number of bytes, which all were the right ones
   */
  static long read(SocketChannel channel) {
    return read(channel, new AtomicLong());
  }

  /**
   * Reads until the stream ends or fails.
   *
   * @param read the number of bytes so far, from zero on
   * @return the number of bytes, which all were the right ones
   */
  static long read(SocketChannel channel, AtomicLong read) {
    ByteBuffer piece = ByteBuffer.allocate(MAX_PIECE);
    try {
      while (channel.read(piece.clear()) >= 0) {
        check(piece.flip(), read.get());
        read.addAndGet(piece.limit());
      }
    } catch (IOException reset) {
      return read.get();
    }
    return read.get();
  }

  private static void check(ByteBuffer piece, long position) {
    while (piece.hasRemaining()) {
      ByteBuffer expected = expected(position + piece.position(), piece.remaining());
      ByteBuffer found = piece.slice(piece.position(), expected.remaining());
      int wrong = expected.mismatch(found);
      if (wrong >= 0) {
        throw new AssertionError(
            "byte %d is %d, must be %d"
                .formatted(
                    position + piece.position() + wrong,
                    found.get(wrong),
                    expected.get(expected.position() + wrong)));
      }
      piece.position(piece.position() + expected.remaining());
    }
  }
}
