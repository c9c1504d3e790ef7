package org.rdma4j.connection;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * What each side tells about itself in the private data of the connection manager, while the
 * connection is established.
 *
 * @param receives the number of messages that it has receives for
 * @param messageBytes the length of the longest message that it receives
 */
record Hello(int receives, int messageBytes) {
  private static final int MAGIC = 0x52344a43;
  private static final int VERSION = 1;
  private static final int BYTES = 4 * Integer.BYTES;

  static Hello of(ConnectionConfig config) {
    return new Hello(config.receives(), config.messageBytes());
  }

  /** Returns what was written; empty if another program or another version wrote it. */
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
