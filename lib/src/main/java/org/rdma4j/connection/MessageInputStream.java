package org.rdma4j.connection;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/** The bytes of the messages of the peer as a stream. */
final class MessageInputStream extends InputStream {
  private final MessageByteChannel channel;
  private final ByteBuffer one = ByteBuffer.allocate(1);

  MessageInputStream(MessageByteChannel channel) {
    this.channel = channel;
  }

  @Override
  public int read() throws IOException {
    return channel.read(one.clear()) < 0 ? -1 : Byte.toUnsignedInt(one.get(0));
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    return channel.read(ByteBuffer.wrap(bytes, offset, length));
  }

  @Override
  public void close() {
    channel.discard();
  }
}
