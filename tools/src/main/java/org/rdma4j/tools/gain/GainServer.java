package org.rdma4j.tools.gain;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import org.jspecify.annotations.Nullable;

/** Serves measurements on two ports: over TCP alone, and with channels that may be upgraded. */
final class GainServer implements AutoCloseable {
  private static final int MAX_BYTES = 64 << 20;

  private volatile @Nullable IOException failure;
  private final ServerSocketChannel plain;
  private final ServerSocketChannel upgraded;

  /** Listens on a port with the channels of the JDK, and on the next one with those of rdma4j. */
  GainServer(SelectorProvider upgrading, int port) throws IOException {
    plain = listen(SelectorProvider.provider(), port);
    boolean done = false;
    try {
      upgraded = listen(upgrading, plain.socket().getLocalPort() + 1);
      done = true;
    } finally {
      if (!done) {
        plain.close();
      }
    }
  }

  private static ServerSocketChannel listen(SelectorProvider provider, int port)
      throws IOException {
    ServerSocketChannel channel = provider.openServerSocketChannel();
    boolean done = false;
    try {
      channel.bind(new InetSocketAddress(port));
      done = true;
    } finally {
      if (!done) {
        channel.close();
      }
    }
    return channel;
  }

  int port() {
    return plain.socket().getLocalPort();
  }

  /**
   * Serves until this is closed.
   *
   * @throws IOException if no further connection can be accepted
   */
  void run() throws IOException {
    Thread.ofPlatform().daemon().start(() -> accept(upgraded));
    accept(plain);
    IOException failed = failure;
    if (failed != null) {
      throw failed;
    }
  }

  /** Accepts connections until the listener is closed, or ends the server with the failure. */
  private void accept(ServerSocketChannel listener) {
    try (plain) {
      while (true) {
        SocketChannel channel = listener.accept();
        Thread.ofPlatform().daemon().start(() -> serve(channel));
      }
    } catch (ClosedChannelException closed) {
      // The server ends.
    } catch (IOException failed) {
      failure = failed;
    }
  }

  private static void serve(SocketChannel channel) {
    try (channel) {
      ByteBuffer greeting = ByteBuffer.allocateDirect(Work.GREETING_BYTES);
      Work.read(channel, greeting);
      Work work = Work.of(greeting);
      int bytes = Work.messageBytes(greeting);
      if (work == null || bytes < 1 || bytes > MAX_BYTES) {
        // This is no client of this program.
        return;
      }
      Work.write(channel, greeting.flip());
      ByteBuffer buffer = ByteBuffer.allocateDirect(bytes);
      switch (work) {
        case ECHO -> echo(channel, buffer);
        case STREAM -> send(channel, drain(channel, buffer));
        case CPU_TIME -> send(channel, cpuNanos());
      }
    } catch (IOException ended) {
      // The client sees that, and reports it.
    }
  }

  private static void echo(SocketChannel channel, ByteBuffer buffer) throws IOException {
    while (true) {
      Work.read(channel, buffer.clear());
      Work.write(channel, buffer.flip());
    }
  }

  private static long drain(SocketChannel channel, ByteBuffer buffer) throws IOException {
    long total = 0;
    int count = channel.read(buffer.clear());
    while (count >= 0) {
      total += count;
      count = channel.read(buffer.clear());
    }
    return total;
  }

  private static void send(SocketChannel channel, long value) throws IOException {
    Work.write(channel, ByteBuffer.allocate(Long.BYTES).putLong(value).flip());
  }

  /** Returns the processor time of this process. */
  static long cpuNanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }

  @Override
  public void close() throws IOException {
    plain.close();
    upgraded.close();
  }
}
