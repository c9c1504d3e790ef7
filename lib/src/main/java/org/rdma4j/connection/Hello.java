package org.rdma4j.connection;

import java.nio.ByteBuffer;
import java.util.Optional;

/** What each side tells of itself while the connection is made, as private data. */
record Hello(int receives, int messageBytes) {
  private static final int MAGIC = 0x52344a43;
  private static final int VERSION = 1;
  private static final int BYTES = 4 * Integer.BYTES;

  static Hello of(ConnectionConfig config) {
    return new Hello(config.receives(), config.messageBytes());
  }

  /** Empty where it was another program that wrote it, or another version of this. */
  static Optional<Hello> read(ByteBuffer privateData) {
    if (privateData.remaining() < BYTES
        || privateData.getInt() != MAGIC
        || privateData.getInt() != VERSION) {
      return Optional.empty();
    }
    Hello hello = new Hello(privateData.getInt(), privateData.getInt());
    return hello.receives < 1 || hello.messageBytes < 1 ? Optional.empty() : Optional.of(hello);
  }

  ByteBuffer write() {
    return ByteBuffer.allocate(BYTES)
        .putInt(MAGIC)
        .putInt(VERSION)
        .putInt(receives)
        .putInt(messageBytes)
        .flip();
  }
}
