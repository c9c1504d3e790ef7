package org.rdma4j.samples;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** What the client of rcopy says first: which file it is, and how long. */
record FileOffer(String name, long length) {
  private static final int MAGIC = 0x52344643;
  private static final int VERSION = 1;
  private static final int HEADER = 2 * Integer.BYTES + Long.BYTES;
  private static final int LONGEST_NAME = 255;

  FileOffer {
    checkName(name);
    if (length < 0) {
      throw new Failure("the length of the file is %d, must not be negative".formatted(length));
    }
  }

  /** Refuses what is not a plain name within a directory. */
  static void checkName(String name) {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes < 1
        || bytes > LONGEST_NAME
        || name.equals(".")
        || name.equals("..")
        || name.indexOf('/') >= 0
        || name.chars().anyMatch(Character::isISOControl)) {
      throw new Failure(
          "\"%s\" is no plain name of a file: 1 to 255 bytes, without a slash".formatted(name));
    }
  }

  static FileOffer read(ByteBuffer message) {
    if (message.remaining() < HEADER || message.getInt() != MAGIC || message.getInt() != VERSION) {
      throw new Failure("the client is no rcopy, or one of another version");
    }
    long length = message.getLong();
    return new FileOffer(StandardCharsets.UTF_8.decode(message).toString(), length);
  }

  ByteBuffer write() {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(HEADER + bytes.length)
        .putInt(MAGIC)
        .putInt(VERSION)
        .putLong(length)
        .put(bytes)
        .flip();
  }
}
