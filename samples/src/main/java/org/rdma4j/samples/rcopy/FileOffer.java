package org.rdma4j.samples.rcopy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The client's first message: the name and the length of the file. */
record FileOffer(String name, long length) {
  private static final int MAGIC = 0x52344643;
  private static final int VERSION = 1;
  private static final int HEADER = 2 * Integer.BYTES + Long.BYTES;
  private static final int MAX_NAME_BYTES = 255;

  FileOffer {
    checkName(name);
    if (length < 0) {
      throw new CopyFailure("the length of the file is %d, must not be negative".formatted(length));
    }
  }

  /** Checks that a name is that of a file directly in a directory. */
  static void checkName(String name) {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes < 1
        || bytes > MAX_NAME_BYTES
        || name.equals(".")
        || name.equals("..")
        || name.indexOf('/') >= 0
        || name.chars().anyMatch(Character::isISOControl)) {
      throw new CopyFailure(
          "\"%s\" is not a plain file name, must have 1 to 255 bytes, no slash and no control character"
              .formatted(Printable.of(name)));
    }
  }

  static FileOffer read(ByteBuffer message) {
    if (message.remaining() < HEADER || message.getInt() != MAGIC || message.getInt() != VERSION) {
      throw new CopyFailure(
          "the client is not rcopy, or has another version; use the same release of"
              + " rdma4j on both sides");
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
