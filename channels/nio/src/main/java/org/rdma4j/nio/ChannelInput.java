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
  /** How many bytes are dropped at a time. */
  private static final int DROPPED = 4 << 10;

  private final TcpEnd tcp;
  private final ReentrantLock lock = new ReentrantLock();
  private final Awaiting awaiting;
  private volatile boolean shut;

  /** Whether nothing can come over TCP any more, so that the connection cannot resume. */
  private volatile boolean tcpEnded;

  /** Whether a thread reads from TCP, and may wait there. */
  private volatile boolean readsTcp;

  /** What was in the buffer of a reader where bytes may come that are not for it. */
  private final byte[] saved = new byte[1 + EarlyBytes.MOST];

  ChannelInput(TcpEnd tcp) {
    this.tcp = tcp;
    this.awaiting = new Awaiting(tcp, way -> !shut && way.input().mustWait());
  }

  /** Returns whether the program has shut down the input. */
  boolean isShut() {
    return shut;
  }

  /** Returns whether nothing can come over TCP any more. */
  boolean hasTcpEnded() {
    return tcpEnded;
  }

  /** Records that TCP's input is shut down. */
  void tcpEnds() {
    tcpEnded = true;
  }

  /**
   * The program shuts down the input. That of TCP stays open if the connection may have to resume,
   * unless a thread must be woken that reads from there.
   *
   * @param shutdown shuts down that of TCP
   */
  void shutDown(@Nullable Upgrade way, TcpEnd.Shutdown shutdown) throws IOException {
    boolean idle = lock.tryLock();
    try {
      if (way == null || !way.input().delaysEnd(idle)) {
        shutdown.run();
        tcpEnded = true;
        if (way != null) {
          way.input().tcpEnded();
        }
      }
      shut = true;
    } finally {
      if (idle) {
        lock.unlock();
      }
    }
    wake();
    if (way != null && way.input().isMoved()) {
      drop(way);
    }
  }

  /** Drops what comes over TCP before the peer's output moves, after the program has shut this. */
  void dropTcp(Upgrade way) throws IOException {
    lock.lock();
    try {
      var unused = readTcp(way, ByteBuffer.allocate(DROPPED), null);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Looks over TCP for the record of a peer whose offset is not known, unless a thread of the
   * program does, or has something to read first.
   */
  void search(Upgrade way) throws IOException {
    if (way.input().ahead() > 0 || !lock.tryLock()) {
      return;
    }
    readsTcp = true;
    try {
      ByteBuffer bytes = ByteBuffer.allocate(DROPPED);
      int count = tcp.readTcp(bytes);
      if (count > 0) {
        way.input().search(bytes, 0, count);
      } else if (count < 0) {
        way.input().tcpEnded();
      }
    } finally {
      readsTcp = false;
      lock.unlock();
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

  /**
   * Returns whether a thread reads from TCP. A thread that begins later does not read behind the
   * peer's offset, and takes no byte that wakes if the stream has stalled before.
   */
  boolean readsTcp() {
    return readsTcp;
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
        if (total > 0 && !(way.input().isMoved() && way.stream().available() > 0)) {
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
        switch (way.input().source()) {
          case TCP -> {
            int count = readTcp(way, target, stream);
            boolean nothing = count < 0 || (count == 0 && target.hasRemaining());
            boolean searchesOn = tcp.isBlocking() && way.input().isSearching();
            if (!nothing
                || (count == 0 && !searchesOn && way.input().source() == Handover.Source.TCP)) {
              return count;
            }
          }
          case RDMA -> {
            if (way.wakeUp().isDue()) {
              takeWakeUp(way);
            }
            int count = way.stream().take(target);
            if (count > 0) {
              tcp.record().receivedOverRdma(count);
              if (way.input().isDrained()) {
                way.followIfDone();
                tcp.changed();
              }
            }
            if (count != 0 || !target.hasRemaining()) {
              return count;
            }
            if (way.input().isDrained()) {
              continue;
            }
          }
          case END -> {
            return -1;
          }
          case RESET -> throw new SocketException("Connection reset");
          case UNDECIDED -> {}
        }
        if (way.input().mustWait()) {
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
    readsTcp = true;
    try {
      ByteBuffer one = ByteBuffer.allocate(1);
      if (!way.stream().isStalled() && tcp.readTcp(one) > 0) {
        takeEarly(way, one, 0, 0, 1);
      }
    } finally {
      readsTcp = false;
    }
  }

  /**
   * Takes bytes behind those of the stream.
   *
   * @throws SocketException if the peer must not send that: its offset was wrong
   */
  private static void takeEarly(Upgrade way, ByteBuffer bytes, int from, int ofStream, int length)
      throws SocketException {
    if (!way.wakeUp().takeEarly(bytes, from + ofStream, length - ofStream)) {
      way.input().read(bytes, from, length);
    }
  }

  /** Reads from TCP, and records the received bytes. */
  private int readTcp(Upgrade before, ByteBuffer target, @Nullable InputStream stream)
      throws IOException {
    int from = target.position();
    if (before.input().ahead() > 0) {
      int count = before.input().takeAhead(target);
      tcp.record().receivedOverTcp(count);
      return count;
    }
    target.get(from, saved, 0, Math.min(saved.length, target.remaining()));
    int count;
    Upgrade way;
    readsTcp = true;
    try {
      count =
          readTcp(target, (int) Math.min(target.remaining(), before.input().tcpBytes()), stream);
      way = tcp.current(before);
      if (count > 0 && way.input().isSearching()) {
        way.input().search(target, from, count);
        count = way.input().takeAhead(target.position(from));
        tcp.record().receivedOverTcp(count);
        return count;
      }
      int ofStream = (int) Math.min(count, way.input().tcpBytes());
      if (ofStream < count) {
        takeEarly(way, target, from, ofStream, count);
        // What a read does not return stays as it was.
        int end = Math.min(count, saved.length);
        if (ofStream < end) {
          target.put(from + ofStream, saved, ofStream, end - ofStream);
        }
        target.position(from + ofStream);
        if (ofStream == 0) {
          return 0;
        }
        count = ofStream;
      }
      if (count > 0) {
        tcp.record().receivedOverTcp(count);
        way.input().read(target, from, count);
      }
    } finally {
      readsTcp = false;
    }
    if (count > 0) {
      way.followIfDone();
    } else if (count < 0 && !shut) {
      way.input().tcpEnded();
      tcp.changed();
    }
    return count;
  }

  private int readTcp(ByteBuffer target, int most, @Nullable InputStream stream)
      throws IOException {
    if (stream != null) {
      int from = target.position();
      int count = stream.read(target.array(), target.arrayOffset() + from, most);
      target.position(from + Math.max(count, 0));
      return count;
    }
    int limit = target.limit();
    try {
      return tcp.readTcp(target.limit(target.position() + most));
    } finally {
      target.limit(limit);
    }
  }
}
