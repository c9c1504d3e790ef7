package org.rdma4j.nio;

import java.io.IOException;
import java.io.InputStream;

/** What a socket reads, within its timeout. */
final class StreamInput extends InputStream {
  private final StreamChannel channel;
  private final InputStream tcp;

  StreamInput(StreamChannel channel, InputStream tcp) {
    this.channel = channel;
    this.tcp = tcp;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    return channel.read(tcp, target, offset, length);
  }

  @Override
  public int available() throws IOException {
    return channel.available(tcp);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
