package org.rdma4j.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Random;

/** A stream whose bytes a reader knows by their positions. */
final class CheckedBytes {
  private static final int MAX_PIECE = 100_000;

  private CheckedBytes() {}

  private static byte at(long position) {
    return (byte) (position ^ position >>> 7 ^ position >>> 15 ^ position >>> 23);
  }

  /** Writes pieces of random lengths until the channel fails. */
  static long write(SocketChannel channel, Random random) {
    ByteBuffer piece = ByteBuffer.allocate(MAX_PIECE);
    long position = 0;
    try {
      while (true) {
        piece.clear().limit(1 + random.nextInt(MAX_PIECE));
        while (piece.hasRemaining()) {
          piece.put(at(position + piece.position()));
        }
        position += piece.position();
        channel.write(piece.flip());
      }
    } catch (IOException ended) {
      return position;
    }
  }

  /**
   * Reads until the stream ends or fails.
   *
   * @return the number of bytes, which all were the right ones
   */
  static long read(SocketChannel channel) {
    ByteBuffer piece = ByteBuffer.allocate(MAX_PIECE);
    long position = 0;
    try {
      while (channel.read(piece.clear()) >= 0) {
        piece.flip();
        while (piece.hasRemaining()) {
          byte expected = at(position);
          byte found = piece.get();
          if (found != expected) {
            throw new AssertionError(
                "byte %d is %d, must be %d".formatted(position, found, expected));
          }
          position++;
        }
      }
    } catch (IOException reset) {
      return position;
    }
    return position;
  }
}
