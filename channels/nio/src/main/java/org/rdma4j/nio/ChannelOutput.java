package org.rdma4j.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Writes for a channel or socket that may be upgraded to RDMA. */
final class ChannelOutput {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final TcpEnd tcp;

  /** Held by a thread that writes, and by a thread that moves or ends the output. */
  private final ReentrantLock lock = new ReentrantLock();

  /** The source of a write of one buffer. */
  private final ByteBuffer[] single = {NOTHING};

  private final Awaiting awaiting;
  private volatile boolean shut;
  private volatile boolean lost;

  ChannelOutput(TcpEnd tcp) {
    this.tcp = tcp;
    this.awaiting =
        new Awaiting(tcp, way -> !shut && way.output().isMoved() && !way.output().isReady());
  }

  /** Returns whether the program has shut down the output. */
  boolean isShut() {
    return shut;
  }

  /**
   * The program shuts down the output. That of TCP stays open if the connection may have to resume.
   *
   * @param shutdown shuts down that of TCP, and ends a write of another thread there
   */
  void shutDown(@Nullable Upgrade way, TcpEnd.Shutdown shutdown) throws IOException {
    if (way == null || !way.output().delaysEnd()) {
      shutdown.run();
    }
    shut = true;
    wake();
    if (way != null) {
      end(way);
    }
  }

  /**
   * A write to TCP has failed, and it is unknown how much of it was written. So the output cannot
   * be moved: the peer would not know where.
   */
  void lost() {
    lost = true;
  }

  /** Lets a thread that waits look again. */
  void wake() {
    awaiting.wake();
  }

  /** Sends the end of the stream over RDMA, behind what other threads have written. */
  void end(Upgrade way) {
    lock.lock();
    try {
      if (lost && !way.output().isMoved() && tcp.isOpen()) {
        way.breakLink("the peer cannot be notified after how many bytes the output has ended");
      }
      way.output().end();
    } finally {
      lock.unlock();
      moveAll(way);
    }
  }

  /** Returns whether it is unknown how much was written to TCP. */
  boolean isLost() {
    return lost;
  }

  /**
   * Writes no more to TCP before a resume. If the output has moved, a writer that waits for that
   * resume may hold the lock.
   *
   * @throws IOException if it is unknown how much was written there
   */
  void stop(Upgrade way) throws IOException {
    if (way.output().isMoved()) {
      return;
    }
    lock.lock();
    try {
      if (lost) {
        throw new IOException("it is unknown how much was written to TCP");
      }
      way.output().stop();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Moves the output to RDMA, or sends what was joined, unless a thread writes: it does this
   * afterwards.
   */
  void move(Upgrade way) {
    while (((!lost && way.output().isDue()) || way.output().isFlushDue()) && lock.tryLock()) {
      try {
        if (!lost) {
          way.output().move();
        }
        way.output().flush();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Moves the output, also that of an upgrade that has followed meanwhile. */
  private void moveAll(Upgrade way) {
    move(way);
    Upgrade now = tcp.current(way);
    if (now != way) {
      move(now);
    }
  }

  /** Notifies the peer that nothing is missing, unless a thread writes or bytes are in flight. */
  void mark(Upgrade way) {
    if (lock.tryLock()) {
      try {
        way.output().mark();
      } finally {
        lock.unlock();
        move(way);
      }
    }
  }

  /** Asks the peer whether its process has all bytes, and the end. */
  void askForEnd(Upgrade way, Runnable answered) {
    lock.lock();
    try {
      way.output().askForEnd(answered);
    } finally {
      lock.unlock();
      move(way);
    }
  }

  int write(Upgrade way, ByteBuffer source) throws IOException {
    int count;
    lock.lock();
    try {
      single[0] = source;
      count = (int) writeLocked(way, single, 0, 1);
    } finally {
      single[0] = NOTHING;
      lock.unlock();
      moveAll(way);
    }
    awaitArrivalAtExit(tcp.current(way));
    return count;
  }

  /** At the end of the process, what a thread has written arrives before the thread goes on. */
  private void awaitArrivalAtExit(Upgrade way) {
    if (way.rendezvous().exit().hasBegun() && way.output().isMoved() && tcp.isBlocking()) {
      way.rendezvous().exit().await(way);
    }
  }

  long write(Upgrade way, ByteBuffer[] sources, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, sources.length);
    long count;
    lock.lock();
    try {
      count = writeLocked(way, sources, offset, length);
    } finally {
      lock.unlock();
      moveAll(way);
    }
    awaitArrivalAtExit(tcp.current(way));
    return count;
  }

  private long writeLocked(Upgrade first, ByteBuffer[] sources, int offset, int length)
      throws IOException {
    Upgrade way = tcp.current(first);
    if (way.isReset() && tcp.isOpen()) {
      throw new IOException("Connection reset by peer");
    }
    if (!way.output().isMoved()) {
      return writeTcp(way, sources, offset, length);
    }
    long count = 0;
    while (true) {
      if (!tcp.isOpen() || shut) {
        throw count == 0 ? new ClosedChannelException() : new AsynchronousCloseException();
      }
      if (!way.output().isMoved()) {
        // It has resumed over TCP.
        return count + writeTcp(way, sources, offset, length);
      }
      long put = way.stream().put(sources, offset, length);
      tcp.record().sentOverRdma(put);
      count += put;
      if (!tcp.isBlocking() || !hasRemaining(sources, offset, length)) {
        return count;
      }
      awaiting.await(way, 0);
      way = tcp.current(way);
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
      return tcp.writeTcp(sources, offset, length);
    } finally {
      for (int i = 0; i < length; i++) {
        ByteBuffer source = sources[offset + i];
        tcp.record().sentOverTcp(source.position() - from[i]);
        tcp.current(way).output().wrote(source, from[i], source.position() - from[i]);
      }
    }
  }
}
