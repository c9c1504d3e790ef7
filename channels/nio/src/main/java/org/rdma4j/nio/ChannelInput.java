package org.rdma4j.nio;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.nio.handover.Handover;

/** Reads for a channel or socket that may be upgraded to RDMA, from where its next bytes come. */
final class ChannelInput {
  private final TcpEnd tcp;
  private final ReentrantLock lock = new ReentrantLock();
  private final Awaiting awaiting;
  private volatile boolean shut;

  ChannelInput(TcpEnd tcp) {
    this.tcp = tcp;
    this.awaiting = new Awaiting(tcp, way -> !shut && way.mustAwaitInput());
  }

  /** Returns whether the program has shut down the input. */
  boolean isShut() {
    return shut;
  }

  /** The program has shut down the input. */
  void shutDown(@Nullable Upgrade way) {
    shut = true;
    wake();
    if (way != null && way.isInputMoved()) {
      drop(way);
    }
  }

  /** Returns whether no other thread reads, or waits for bytes over TCP. */
  boolean isIdle() {
    if (lock.isHeldByCurrentThread()) {
      return true;
    }
    if (!lock.tryLock()) {
      return false;
    }
    lock.unlock();
    return true;
  }

  /** Drops the bytes received over RDMA, once no thread reads any more, and what still comes. */
  void drop(Upgrade way) {
    lock.lock();
    try {
      way.stream().drop();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Drops the bytes received over RDMA, without waiting for a thread that reads: that thread may
   * close the channel, and wait for the calling thread.
   */
  void dropSoon(Upgrade way) {
    if (!lock.tryLock()) {
      var unused = ChannelThreads.start("rdma4j-nio-close", () -> drop(way));
      return;
    }
    try {
      way.stream().drop();
    } finally {
      lock.unlock();
    }
  }

  /** Lets a thread that waits look again. */
  void wake() {
    awaiting.wake();
  }

  /** Reads into several buffers. Waits for the first bytes only. */
  long read(Upgrade way, ByteBuffer[] targets, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, targets.length);
    long total = 0;
    for (int i = offset; i < offset + length; i++) {
      if (targets[i].hasRemaining()) {
        if (total > 0 && !(way.isInputMoved() && way.stream().available() > 0)) {
          break;
        }
        int count = read(way, targets[i], null, 0);
        if (count <= 0) {
          return total > 0 ? total : count;
        }
        total += count;
      }
    }
    return total;
  }

  /**
   * Reads from where the next bytes come.
   *
   * @param stream reads from TCP within the timeout of the socket; null without one
   * @param timeout the same timeout, in milliseconds; 0 waits without a limit
   * @throws SocketTimeoutException if it takes longer
   */
  int read(Upgrade first, ByteBuffer target, @Nullable InputStream stream, int timeout)
      throws IOException {
    if (target.isReadOnly()) {
      throw new IllegalArgumentException("Read-only buffer");
    }
    long end = timeout == 0 ? 0 : System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeout);
    lock(timeout);
    try {
      while (true) {
        if (!tcp.isOpen()) {
          throw new ClosedChannelException();
        }
        if (shut) {
          return -1;
        }
        Upgrade way = tcp.current(first);
        switch (way.source()) {
          case TCP -> {
            int count = readTcp(way, target, stream);
            boolean nothing = count < 0 || (count == 0 && target.hasRemaining());
            if (!nothing || (count == 0 && way.source() == Handover.Source.TCP)) {
              return count;
            }
          }
          case RDMA -> {
            if (way.isWakeUpDue()) {
              takeWakeUp(way);
            }
            int count = way.stream().take(target);
            if (count > 0) {
              tcp.record().receivedOverRdma(count);
              if (way.isDrained()) {
                way.followIfDone();
                tcp.changed();
              }
            }
            if (count != 0 || !target.hasRemaining()) {
              return count;
            }
            if (way.isDrained()) {
              continue;
            }
          }
          case END -> {
            return -1;
          }
          case RESET -> throw new SocketException("Connection reset");
          case UNDECIDED -> {}
        }
        if (way.mustAwaitInput()) {
          if (!tcp.isBlocking()) {
            return 0;
          }
          awaiting.await(way, timeout == 0 ? 0 : left(end));
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until no other thread reads. An interrupt does not end this, as in the JDK. */
  private void lock(int timeout) throws SocketTimeoutException {
    if (timeout == 0) {
      lock.lock();
      return;
    }
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeout);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          if (lock.tryLock(left(end), TimeUnit.NANOSECONDS)) {
            return;
          }
        } catch (InterruptedException later) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static long left(long end) throws SocketTimeoutException {
    long left = end - System.nanoTime();
    if (left <= 0) {
      throw new SocketTimeoutException("Read timed out");
    }
    return left;
  }

  /** Takes the byte that should have woken a thread, which has returned without it. */
  private void takeWakeUp(Upgrade way) throws IOException {
    int count = tcp.readTcp(ByteBuffer.allocate(1));
    if (count > 0 && !way.takeWakeUp(count)) {
      way.breakLink("the peer has sent more over TCP than its offset says");
    }
  }

  /** Reads from TCP, and records the received bytes. */
  private int readTcp(Upgrade before, ByteBuffer target, @Nullable InputStream stream)
      throws IOException {
    int from = target.position();
    int limit = target.limit();
    int most = (int) Math.min(target.remaining(), before.tcpBytes());
    // What a read does not return stays as it was, so a byte that only wakes is taken back.
    byte kept = most > 0 ? target.get(from) : 0;
    int count;
    try {
      if (stream == null) {
        target.limit(from + most);
        count = tcp.readTcp(target);
      } else {
        count = stream.read(target.array(), target.arrayOffset() + from, most);
        target.position(from + Math.max(count, 0));
      }
    } finally {
      target.limit(limit);
    }
    Upgrade way = tcp.current(before);
    if (count > 0 && way.takeWakeUp(count)) {
      target.put(from, kept).position(from);
      return 0;
    }
    if (count > 0) {
      tcp.record().receivedOverTcp(count);
      way.read(target, from, count);
      way.followIfDone();
    } else if (count < 0 && !shut) {
      way.tcpEnded();
      tcp.changed();
    }
    return count;
  }
}
