package org.rdma4j.nio;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

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

  /** Which part of the time that it has waited it sleeps: many slow closes must not cost much. */
  private static final long PART = 20;

  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private static final Duration RESUME_PAUSE = Duration.ofMillis(10);

  private final Upgrade upgrade;
  private final RdmaStream stream;
  private final boolean abort;

  private StreamClose(Upgrade upgrade, RdmaStream stream, boolean abort) {
    this.upgrade = upgrade;
    this.stream = stream;
    this.abort = abort;
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
    Exit exit = upgrade.rendezvous().exit();
    exit.add(close);
    upgrade.rendezvous().forget(upgrade);
    Thread thread = ChannelThreads.start("rdma4j-nio-close", close::run);
    if (exit.hasBegun()) {
      exit.await(close);
    } else if (seconds > 0) {
      try {
        var unused = thread.join(Duration.ofSeconds(seconds));
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void run() {
    try {
      if (!upgrade.isCloseDue()) {
        // It does not resume any more.
        stream.kept().end();
      }
      upgrade.tcp().input().drop(upgrade);
      if (!abort) {
        upgrade.tcp().output().end(upgrade);
        awaitArrival();
        awaitResume();
      }
    } catch (InterruptedException nobodyInterruptsIt) {
      Thread.currentThread().interrupt();
    } finally {
      upgrade.endClose();
      upgrade.rendezvous().closeNow(stream.connection());
      upgrade.rendezvous().exit().remove(this);
    }
  }

  private void awaitArrival() throws InterruptedException {
    long began = System.nanoTime();
    long progress = began;
    long before = stream.inFlight();
    while (before > 0 && System.nanoTime() - progress < STILL_NANOS) {
      long pause = Math.min((System.nanoTime() - began) / PART, LONGEST_PAUSE_NANOS);
      TimeUnit.NANOSECONDS.sleep(Math.max(pause, 1_000_000));
      long now = stream.inFlight();
      if (now != before) {
        before = now;
        progress = System.nanoTime();
      }
    }
  }

  /** If RDMA has failed, waits until it is known whether the rest uses TCP, and was sent. */
  private void awaitResume() throws InterruptedException {
    while (upgrade.isCloseDue() && !stream.connection().isOpen() && !stream.isOver()) {
      Thread.sleep(RESUME_PAUSE);
    }
  }

  /** Returns the number of messages that have not arrived, and still can. */
  long inFlight() {
    return stream.inFlight();
  }
}
