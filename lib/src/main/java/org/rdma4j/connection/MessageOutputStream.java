package org.rdma4j.connection;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.rdma4j.RdmaException;

/** A stream whose bytes are sent as messages. */
final class MessageOutputStream extends OutputStream {
  private final RdmaConnection connection;
  private final MessageByteChannel channel;

  MessageOutputStream(RdmaConnection connection, MessageByteChannel channel) {
    this.connection = connection;
    this.channel = channel;
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    channel.write(ByteBuffer.wrap(bytes, offset, length));
  }

  @Override
  public void close() throws IOException {
    try {
      connection.endOutput();
    } catch (IllegalStateException | RdmaException failed) {
      throw new IOException(failed.getMessage(), failed);
    }
  }
}
