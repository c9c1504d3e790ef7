package org.rdma4j.nio;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The close of a stream over RDMA, which goes on in a thread of its own after the close of its
 * channel, as the kernel goes on with TCP.
 */
final class StreamClose {
  /**
   * How long it waits while nothing arrives, because the peer is alive but does not read. Linux
   * gives up a TCP connection that no process has any more after some minutes.
   */
  private static final long STILL_NANOS = TimeUnit.MINUTES.toNanos(3);

  /**
   * How long it waits until the process of the peer has taken what its device has. That takes a
   * round trip, unless the process is stopped. Linux waits as long for the end of a peer.
   */
  private static final long DELIVERY_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Which part of the time that it has waited it sleeps: many slow closes must not cost much. */
  private static final long PART = 20;

  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final Duration RESUME_PAUSE = Duration.ofMillis(10);

  private final Upgrade upgrade;
  private final RdmaStream stream;
  private final Exit exit;
  private final boolean abort;
  private final Thread thread;

  /** Is done when all has arrived, or nothing more can. */
  private final CountDownLatch arrival = new CountDownLatch(1);

  private StreamClose(Upgrade upgrade, RdmaStream stream, boolean abort) {
    this.upgrade = upgrade;
    this.stream = stream;
    this.exit = upgrade.rendezvous().exit();
    this.abort = abort;
    this.thread = ChannelThreads.named("rdma4j-nio-close").unstarted(this::run);
  }

  /**
   * Begins to close a stream, and waits as SO_LINGER says, or at the end of the process until all
   * has arrived.
   *
   * @param abort whether the peer sees a reset instead of the end of the stream
   * @param seconds how long to wait; not positive to wait only at the end of the process
   */
  static void close(Upgrade upgrade, RdmaStream stream, boolean abort, int seconds) {
    StreamClose close = new StreamClose(upgrade, stream, abort);
    close.exit.add(close);
    upgrade.rendezvous().forget(upgrade);
    close.thread.start();
    if (close.exit.hasBegun()) {
      close.exit.await(close);
    } else if (seconds > 0) {
      try {
        var unused = close.arrival.await(seconds, TimeUnit.SECONDS);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void run() {
    try {
      if (!upgrade.close().lingers()) {
        // It does not resume any more.
        stream.kept().end();
      }
      upgrade.tcp().input().drop(upgrade);
      if (!abort) {
        upgrade.tcp().output().end(upgrade);
        awaitArrival();
        arrival.countDown();
        awaitDelivery();
        awaitResume();
      }
    } catch (InterruptedException nobodyInterruptsIt) {
      Thread.currentThread().interrupt();
    } finally {
      upgrade.close().endTcp();
      upgrade.rendezvous().closeNow(stream.connection());
      arrival.countDown();
      exit.remove(this);
    }
  }

  private void awaitArrival() throws InterruptedException {
    long began = System.nanoTime();
    long progress = began;
    long before = stream.inFlight();
    while (before > 0 && System.nanoTime() - progress < STILL_NANOS) {
      TimeUnit.NANOSECONDS.sleep(pause(began));
      long now = stream.inFlight();
      if (now != before) {
        before = now;
        progress = System.nanoTime();
      }
    }
  }

  private static long pause(long began) {
    long pause = Math.min((System.nanoTime() - began) / PART, LONGEST_PAUSE_NANOS);
    return Math.max(pause, 1_000_000);
  }

  /**
   * If the connection may resume, waits until the process of the peer has all bytes. At the end of
   * this process that does not matter, because nothing can be sent again after it.
   */
  private void awaitDelivery() {
    long began = System.nanoTime();
    while (upgrade.close().lingers()
        && !stream.isEndDelivered()
        && stream.connection().isOpen()
        && !exit.hasBegun()
        && System.nanoTime() - began < DELIVERY_NANOS) {
      upgrade.tcp().output().askForEnd(upgrade, this::wake);
      LockSupport.parkNanos(this, Math.max(pause(began), TimeUnit.MILLISECONDS.toNanos(10)));
    }
  }

  /** If RDMA has failed, waits until it is known whether the rest uses TCP, and was sent. */
  private void awaitResume() throws InterruptedException {
    while (upgrade.close().lingers() && !stream.connection().isOpen() && !stream.isOver()) {
      Thread.sleep(RESUME_PAUSE);
    }
  }

  /** Lets it look whether it still has to wait for the process of the peer. */
  void wake() {
    LockSupport.unpark(thread);
  }

  /** Returns the number of messages that have not arrived, and still can. */
  long inFlight() {
    return stream.inFlight();
  }
}
