package org.rdma4j.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Arrays;

/**
 * Measures an echo of 64 bytes between two processes: {@code EchoTimes server PORT WAY}, then
 * {@code EchoTimes client PORT WAY}, where WAY is {@code selecting} or {@code blocking}; or between
 * two threads: {@code EchoTimes both PORT WAY}. Prints median, ninth decile and 99th percentile of
 * rounds of 10,000 echoes.
 */
final class EchoTimes {
  private static final int BYTES = 64;
  private static final int ROUNDS = 8;
  private static final int ECHOES = 10_000;
  private static final int WARM_UP = 1000;

  private final SocketChannel channel;
  private final Selector selector;
  private final boolean selecting;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);

  private EchoTimes(SocketChannel channel, String way) throws IOException {
    this.channel = channel;
    this.selector = Selector.open();
    this.selecting = way.equals("selecting");
    if (selecting) {
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ);
    }
  }

  public static void main(String[] args) throws IOException {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[1]));
    if (args[0].equals("both")) {
      try (ServerSocketChannel listener = ServerSocketChannel.open().bind(address)) {
        SocketChannel client = SocketChannel.open(address);
        EchoTimes server = new EchoTimes(listener.accept(), args[2]);
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    server.serve();
                  } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                  }
                });
        new EchoTimes(client, args[2]).measure();
      }
    } else if (args[0].equals("server")) {
      try (ServerSocketChannel listener = ServerSocketChannel.open().bind(address)) {
        new EchoTimes(listener.accept(), args[2]).serve();
      }
    } else {
      new EchoTimes(SocketChannel.open(address), args[2]).measure();
    }
  }

  private void serve() throws IOException {
    while (receive()) {
      send();
    }
  }

  private boolean receive() throws IOException {
    buffer.clear();
    while (buffer.hasRemaining()) {
      if (selecting) {
        selector.select();
        selector.selectedKeys().clear();
      }
      if (channel.read(buffer) < 0) {
        return false;
      }
    }
    return true;
  }

  private void send() throws IOException {
    buffer.flip();
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  private void measure() throws IOException {
    for (int i = 0; i < WARM_UP || !hasGoneOver(); i++) {
      echo();
      if (i == 100 * WARM_UP) {
        System.out.println("stays with TCP");
        break;
      }
    }
    for (int round = 0; round < ROUNDS; round++) {
      long[] nanos = new long[ECHOES];
      for (int i = 0; i < ECHOES; i++) {
        long start = System.nanoTime();
        echo();
        nanos[i] = System.nanoTime() - start;
      }
      Arrays.sort(nanos);
      System.out.printf(
          "p50 %.1f us, p90 %.1f us, p99 %.1f us%n",
          nanos[ECHOES / 2] / 1e3, nanos[ECHOES * 9 / 10] / 1e3, nanos[ECHOES / 100 * 99] / 1e3);
    }
    channel.close();
  }

  private static boolean hasGoneOver() {
    return !(SelectorProvider.provider() instanceof RdmaSelectorProvider ours)
        || ours.statistics().receivedBytes() > 0;
  }

  private void echo() throws IOException {
    buffer.position(BYTES);
    send();
    if (!receive()) {
      throw new IOException("the server has gone");
    }
  }
}
