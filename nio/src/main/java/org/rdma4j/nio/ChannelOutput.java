package org.rdma4j.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Writes for a channel that may go over to RDMA. */
final class ChannelOutput {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final StreamChannel channel;
  private final SocketChannel tcp;

  /** Held by who writes, and by who lets the output go over or end. */
  private final ReentrantLock lock = new ReentrantLock();

  /** The source of a write of one buffer. */
  private final ByteBuffer[] single = {NOTHING};

  private final Awaiting awaiting;
  private volatile boolean shut;

  ChannelOutput(StreamChannel channel, SocketChannel tcp) {
    this.channel = channel;
    this.tcp = tcp;
    this.awaiting = new Awaiting(channel, way -> !shut && !way.isOutputReady());
  }

  /** Returns whether the program has shut down the output. */
  boolean isShut() {
    return shut;
  }

  /** The program has shut down the output over TCP. */
  void shutDown(@Nullable Upgrade way) {
    shut = true;
    wake();
    if (way != null) {
      end(way);
    }
  }

  /** Lets a thread that waits look again. */
  void wake() {
    awaiting.wake();
  }

  /** Sends the end of the stream over RDMA, behind what other threads have written. */
  void end(Upgrade way) {
    lock.lock();
    try {
      way.endOutput();
    } finally {
      lock.unlock();
      move(way);
    }
  }

  /** Lets the output go over to RDMA, unless a thread writes: it does this afterwards. */
  void move(Upgrade way) {
    while (way.isOutputDue() && lock.tryLock()) {
      try {
        way.moveOutput();
      } finally {
        lock.unlock();
      }
    }
  }

  int write(Upgrade way, ByteBuffer source) throws IOException {
    lock.lock();
    try {
      single[0] = source;
      return (int) writeLocked(way, single, 0, 1);
    } finally {
      single[0] = NOTHING;
      lock.unlock();
      move(way);
    }
  }

  long write(Upgrade way, ByteBuffer[] sources, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, sources.length);
    lock.lock();
    try {
      return writeLocked(way, sources, offset, length);
    } finally {
      lock.unlock();
      move(way);
    }
  }

  private long writeLocked(Upgrade way, ByteBuffer[] sources, int offset, int length)
      throws IOException {
    if (way.isReset() && channel.isOpen()) {
      throw new IOException("Connection reset by peer");
    }
    if (!way.isOutputMoved()) {
      return writeTcp(way, sources, offset, length);
    }
    long count = 0;
    while (true) {
      if (!channel.isOpen() || shut) {
        throw count == 0 ? new ClosedChannelException() : new AsynchronousCloseException();
      }
      count += way.stream().put(sources, offset, length);
      if (!channel.isBlocking() || !hasRemaining(sources, offset, length)) {
        return count;
      }
      awaiting.await(way, 0);
    }
  }

  private static boolean hasRemaining(ByteBuffer[] sources, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      if (sources[i].hasRemaining()) {
        return true;
      }
    }
    return false;
  }

  /** Writes to TCP, and notes what was written, also if the write failed halfway. */
  private long writeTcp(Upgrade way, ByteBuffer[] sources, int offset, int length)
      throws IOException {
    int[] from = new int[length];
    for (int i = 0; i < length; i++) {
      from[i] = sources[offset + i].position();
    }
    try {
      return tcp.write(sources, offset, length);
    } finally {
      for (int i = 0; i < length; i++) {
        ByteBuffer source = sources[offset + i];
        way.wrote(source, from[i], source.position() - from[i]);
      }
      channel.closeIfTcpIs();
    }
  }
}
