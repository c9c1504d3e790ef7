package org.rdma4j.connection;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.rdma4j.platform.TimeText;
import org.rdma4j.recording.WaitEvent;

/** How threads of the program wait at one connection, and which threads must not. */
final class ConnectionWaits {
  /** The connection. */
  interface Owner {
    void lock();

    /** Frees the lock, after it has done what the session asks for. */
    void unlock();

    /** Posts what waits. Requires the lock. */
    void flush();

    Poller poller();

    /** Returns whether the calling thread may wait: not if it runs a handler that must not. */
    boolean mayWait();
  }

  private final Owner owner;
  private final ReentrantLock lock;
  private long count;

  /**
   * Creates it.
   *
   * @param lock the lock of the connection
   */
  ConnectionWaits(Owner owner, ReentrantLock lock) {
    this.owner = owner;
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
    owner.flush();
    owner.unlock();
    try {
      owner.poller().loop().assist(end, awaited.isOverWithoutLock());
    } finally {
      owner.lock();
    }
    boolean reached = awaited.isOver() || sleep(awaited, end);
    if (event != null && event.shouldCommit()) {
      event.connection = owner.toString();
      event.reached = reached;
      event.commit();
    }
    return reached;
  }

  private boolean sleep(Awaited awaited, long end) throws InterruptedException {
    owner.poller().loop().turn().relyOnOwner();
    try {
      return awaited.sleep(end);
    } finally {
      owner.poller().loop().turn().relyNoMore();
    }
  }

  /**
   * Checks that the calling thread may wait, also if it would not have to this time.
   *
   * @throws IllegalStateException if it runs a handler
   */
  void checkAllowed() {
    if (!owner.mayWait()) {
      throw Loop.mustNotWait();
    }
  }

  TimeoutException timedOut(String missing, Duration timeout) {
    return new TimeoutException("%s: %s within %s".formatted(owner, missing, TimeText.of(timeout)));
  }
}
