package org.rdma4j.bench.connections;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The other side of measurements of channels, with the channels of one provider. The first byte of
 * a connection says what this side does with it.
 */
final class ChannelPeer {
  /** A thread of its own reads and writes everything back. */
  static final byte ECHO = 'e';

  /** The thread that selects for all writes everything back. */
  static final byte SELECT = 's';

  /** A thread of its own reads {@link #BURST} bytes, and confirms them with {@link #ANSWER}. */
  static final byte SINK = 'd';

  static final int BURST = 8 << 20;
  static final int ANSWER = 64;

  /** As many clients as {@link ChannelComparisons} opens at once. */
  private static final int BACKLOG = 1000;

  private static final int BUFFER = 1 << 16;

  private final ServerSocketChannel server;
  private final Selector selector;
  private final Queue<SocketChannel> accepted = new ConcurrentLinkedQueue<>();

  private ChannelPeer(ServerSocketChannel server, Selector selector) {
    this.server = server;
    this.selector = selector;
  }

  /** Serves until the process ends. */
  static void start(SelectorProvider provider, int port) throws IOException {
    ServerSocketChannel server = provider.openServerSocketChannel();
    server.bind(new InetSocketAddress(port), BACKLOG);
    ChannelPeer peer = new ChannelPeer(server, provider.openSelector());
    daemon(peer::acceptAll);
    daemon(peer::selectAll);
  }

  /** What a thread does with a channel until its peer closes it. */
  private interface Serving {
    void run() throws IOException;
  }

  private static void daemon(Serving serving) {
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                serving.run();
              } catch (EOFException closed) {
                // The client is done with this channel.
              } catch (IOException failed) {
                throw new UncheckedIOException(failed);
              }
            });
  }

  private void acceptAll() throws IOException {
    while (true) {
      SocketChannel channel = server.accept();
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      ByteBuffer first = ByteBuffer.allocate(1);
      channel.read(first);
      switch (first.get(0)) {
        case ECHO -> daemon(() -> echo(channel));
        case SINK -> daemon(() -> sink(channel));
        case SELECT -> {
          channel.configureBlocking(false);
          accepted.add(channel);
          selector.wakeup();
        }
        default -> channel.close();
      }
    }
  }

  private static void echo(SocketChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER);
    try (channel) {
      while (channel.read(bytes.clear()) >= 0) {
        channel.write(bytes.flip());
      }
    }
  }

  private static void sink(SocketChannel channel) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER);
    try (channel) {
      while (true) {
        ChannelRates.read(channel, bytes, BURST);
        channel.write(bytes.clear().limit(ANSWER));
      }
    }
  }

  private void selectAll() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocateDirect(BUFFER);
    while (true) {
      selector.select(key -> answer(key, bytes));
      SocketChannel channel = accepted.poll();
      while (channel != null) {
        channel.register(selector, SelectionKey.OP_READ);
        channel = accepted.poll();
      }
    }
  }

  private static void answer(SelectionKey key, ByteBuffer bytes) {
    SocketChannel channel = (SocketChannel) key.channel();
    try {
      if (channel.read(bytes.clear()) < 0) {
        channel.close();
        return;
      }
      bytes.flip();
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
