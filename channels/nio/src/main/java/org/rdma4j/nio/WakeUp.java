package org.rdma4j.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.RdmaException;

/**
 * Wakes a thread that waits for TCP when its input moves to RDMA: nothing more of the stream comes
 * there, so the peer sends a byte for that. The end of TCP's input would do the same, but then the
 * channel could not resume over TCP.
 *
 * <p>The lock of the {@link Upgrade} guards this.
 */
final class WakeUp {
  /**
   * For how long a thread waits for the byte that wakes it. A failure of RDMA is noticed in less
   * time, and the channel can resume then.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /** The byte that wakes a thread: no record of a resume begins with it. */
  private static final byte WAKING = 0;

  private final Upgrade upgrade;
  private final ReentrantLock lock;

  /** What came over TCP behind the peer's offset. */
  private final EarlyBytes early = new EarlyBytes();

  /** Whether the peer is asked for a byte over TCP. */
  private volatile boolean due;

  private boolean begun;

  /** Whether the peer was sent such a byte. */
  private boolean hasWokenPeer;

  /**
   * Creates it.
   *
   * @param lock the lock of the upgrade
   */
  WakeUp(Upgrade upgrade, ReentrantLock lock) {
    this.upgrade = upgrade;
    this.lock = lock;
  }

  /** Returns whether a byte of the peer is still to come over TCP that belongs to no stream. */
  boolean isDue() {
    return due;
  }

  /**
   * Begins if a thread may wait for TCP, once; returns whether it does, so that {@link #ask} is
   * due.
   */
  boolean begin() {
    boolean waits = !upgrade.tcp().input().isIdle();
    lock.lock();
    try {
      due |= waits && !begun;
      boolean first = !begun;
      begun = true;
      return first && waits;
    } finally {
      lock.unlock();
    }
  }

  /** Asks the peer for a byte. */
  void ask() {
    RdmaStream stream = upgrade.stream();
    try {
      var unused =
          stream
              .connection()
              .request(ByteBuffer.allocate(1))
              .whenComplete(
                  (answer, failure) -> {
                    if (failure == null) {
                      answer.close();
                    } else if (stream.connection().isOpen()) {
                      endInput();
                    }
                  });
    } catch (RdmaException | IllegalStateException over) {
      // Its end follows, and wakes the thread if the channel does not resume.
      log("the peer is not asked for a byte that wakes a reader: " + over);
    }
    var unused = upgrade.rendezvous().later(PATIENCE, this::endInput);
  }

  /**
   * Wakes the thread by the end of TCP's input, unless the byte has come, or the connection
   * resumes: then the record of the peer wakes it.
   */
  void endInput() {
    boolean waits;
    lock.lock();
    try {
      waits = due && !upgrade.stream().isStalled();
      due &= !waits;
    } finally {
      lock.unlock();
    }
    if (waits) {
      log("a reader is woken by the end of TCP's input");
      upgrade.tcp().endTcpInput();
    }
  }

  /**
   * Takes what was read from TCP behind the last byte of the stream there: the byte that has woken
   * the reader, or a part of a resume.
   *
   * @return whether the peer may send that
   */
  boolean takeEarly(ByteBuffer bytes, int from, int length) {
    lock.lock();
    try {
      boolean wakes = take(bytes.get(from));
      return early.add(bytes, wakes ? from + 1 : from, wakes ? length - 1 : length);
    } finally {
      lock.unlock();
    }
  }

  /** Moves what a reader has taken into a buffer of the resume. */
  void giveEarly(ByteBuffer target) {
    lock.lock();
    try {
      early.take(target);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns whether the first byte behind the stream is that which wakes a reader. The peer does
   * not send it later than a record.
   */
  boolean take(byte first) {
    lock.lock();
    try {
      boolean wakes = due && first == WAKING;
      due = false;
      return wakes;
    } finally {
      lock.unlock();
    }
  }

  /** Sends the peer the byte that it has asked for, once; returns whether it was sent. */
  boolean wakePeer() {
    lock.lock();
    try {
      if (hasWokenPeer || !upgrade.mayWakePeer()) {
        return false;
      }
      hasWokenPeer = true;
    } finally {
      lock.unlock();
    }
    try {
      // No other thread writes to TCP any more, and all that was written there has arrived.
      ByteBuffer one = ByteBuffer.allocate(1).put(0, WAKING);
      return upgrade.tcp().writeTcp(new ByteBuffer[] {one}, 0, 1) == 1;
    } catch (IOException closedMeanwhile) {
      log("the reader of the peer is not woken over TCP: " + closedMeanwhile);
      return false;
    }
  }

  private void log(String what) {
    upgrade.rendezvous().log(upgrade.name(), what);
  }
}
