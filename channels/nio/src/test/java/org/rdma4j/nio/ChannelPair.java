package org.rdma4j.nio;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** Two connected channels, in blocking mode. */
record ChannelPair(SocketChannel client, SocketChannel server) implements AutoCloseable {
  static final long PATIENCE_SECONDS = 20;

  static ChannelPair connect(SelectorProvider provider) throws IOException {
    try (ServerSocketChannel listener = listen(provider)) {
      SocketChannel client = provider.openSocketChannel();
      client.connect(listener.getLocalAddress());
      return new ChannelPair(client, listener.accept());
    }
  }

  static ServerSocketChannel listen(SelectorProvider provider) throws IOException {
    return provider.openServerSocketChannel().bind(anyPort());
  }

  static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  /** Reads until a number of bytes has come or the stream has ended. */
  static String read(SocketChannel channel, int bytes) throws IOException {
    ByteBuffer target = ByteBuffer.allocate(bytes);
    while (target.hasRemaining() && channel.read(target) >= 0) {}
    return StandardCharsets.UTF_8.decode(target.flip()).toString();
  }

  static ByteBuffer bytes(String text) {
    return StandardCharsets.UTF_8.encode(text);
  }

  /** Calls in another thread, and waits until it waits there. */
  static <T> Waiting<T> waiting(Callable<T> call) throws InterruptedException {
    CountDownLatch started = new CountDownLatch(1);
    FutureTask<T> task =
        new FutureTask<>(
            () -> {
              started.countDown();
              return call.call();
            });
    Thread thread = Thread.ofPlatform().daemon().name("waiting").start(task);
    started.await();
    // Until the call blocks in C, the thread is runnable: give it time to get there.
    Thread.sleep(50);
    return new Waiting<>(thread, task);
  }

  /** A call that waits in a thread. */
  record Waiting<T>(Thread thread, FutureTask<T> task) {
    T get() throws Exception {
      return task.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
  }

  @Override
  public void close() throws IOException {
    client.close();
    server.close();
  }
}
