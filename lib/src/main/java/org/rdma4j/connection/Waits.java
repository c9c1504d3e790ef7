package org.rdma4j.connection;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.rdma4j.platform.TimeText;
import org.rdma4j.recording.WaitEvent;

/** How threads of the program wait at one connection, and which threads must not. */
final class Waits {
  private final Link link;
  private final ReentrantLock lock;
  private long count;

  /**
   * Creates it.
   *
   * @param lock the lock of the connection
   */
  Waits(Link link, ReentrantLock lock) {
    this.link = link;
    this.lock = lock;
  }

  /** Returns what to wait for: it is over when this says so, which is called with the lock. */
  Awaited until(BooleanSupplier over) {
    return new Awaited(lock, over);
  }

  /** Returns how often a thread has waited. Requires the lock. */
  long count() {
    return count;
  }

  /**
   * Waits until a condition holds. The thread polls itself for a moment if it can. Requires the
   * lock, which it releases meanwhile.
   *
   * @return whether the condition holds
   */
  boolean await(Awaited awaited, long end) throws InterruptedException {
    if (awaited.isOver()) {
      return true;
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    count++;
    WaitEvent event = Recording.beginWait();
    link.flush();
    link.unlock();
    try {
      link.poller().loop().assist(end, awaited.isOverWithoutLock());
    } finally {
      link.lock();
    }
    boolean reached = awaited.isOver() || sleep(awaited, end);
    if (event != null && event.shouldCommit()) {
      event.connection = link.toString();
      event.reached = reached;
      event.commit();
    }
    return reached;
  }

  private boolean sleep(Awaited awaited, long end) throws InterruptedException {
    link.poller().loop().turn().relyOnOwner();
    try {
      return awaited.sleep(end);
    } finally {
      link.poller().loop().turn().relyNoMore();
    }
  }

  /**
   * Checks that the calling thread may wait, also if it would not have to this time.
   *
   * @throws IllegalStateException if it runs a handler
   */
  void checkAllowed() {
    if (isDelivering()
        || (link.telling().isTelling() && !link.share().config().handlersMayWait())) {
      throw Loop.mustNotWait();
    }
  }

  /** Returns whether the calling thread runs a handler. */
  boolean isHandler() {
    return isDelivering() || link.telling().isTelling();
  }

  private boolean isDelivering() {
    return link.share().node().isDelivering();
  }

  TimeoutException timedOut(String missing, Duration timeout) {
    return new TimeoutException("%s: %s within %s".formatted(link, missing, TimeText.of(timeout)));
  }
}
