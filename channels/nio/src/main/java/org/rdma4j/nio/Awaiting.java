package org.rdma4j.nio;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The wait of one direction of a connection for what the RDMA connection brings. One thread at a
 * time waits: the thread that has the lock of the direction. It polls itself as long as that pays,
 * because to be woken by the thread of the node takes several times as long as an answer.
 */
final class Awaiting {
  private final TcpEnd tcp;
  private final Predicate<Upgrade> mustWait;

  // Made once, so that a wait allocates nothing.
  private final BooleanSupplier over = this::isOver;
  private final Runnable park = this::park;

  private volatile @Nullable Upgrade way;
  private volatile @Nullable Thread thread;

  // What follows is used by the thread that waits.

  /** Whether the wait has no limit. */
  private boolean endless;

  /** Whether the thread has slept in this wait, or is about to. */
  private boolean slept;

  /** When the time is up, on the scale of {@link System#nanoTime}. */
  private long end;

  /**
   * Creates it.
   *
   * @param mustWait returns whether a thread still has to wait
   */
  Awaiting(TcpEnd tcp, Predicate<Upgrade> mustWait) {
    this.tcp = tcp;
    this.mustWait = mustWait;
  }

  /** Lets a thread that waits look again: if it calls this while it polls, it does so anyway. */
  void wake() {
    Thread waiting = thread;
    if (waiting != Thread.currentThread()) {
      LockSupport.unpark(waiting);
    }
  }

  /**
   * Waits as long as it must, and while the channel or socket is open.
   *
   * @param nanos the time in nanoseconds; 0 waits without a limit
   * @throws SocketTimeoutException if it takes longer
   */
  void await(Upgrade upgrade, long nanos) throws IOException {
    endless = nanos == 0;
    end = endless ? 0 : System.nanoTime() + nanos;
    slept = false;
    way = upgrade;
    thread = Thread.currentThread();
    try {
      tcp.await(this);
    } finally {
      thread = null;
      way = null;
    }
  }

  /** Returns whether the calling thread need not wait any more. */
  boolean isOver() {
    Upgrade upgrade = way;
    return !tcp.isOpen() || upgrade == null || !mustWait.test(upgrade);
  }

  /**
   * Takes one step of the wait: polls, and then sleeps until something may have changed.
   *
   * @throws SocketTimeoutException if the time is up
   */
  void step() throws SocketTimeoutException {
    if (!endless && System.nanoTime() - end >= 0) {
      throw new SocketTimeoutException("Read timed out");
    }
    Upgrade upgrade = way;
    if (upgrade != null) {
      upgrade.rendezvous().pollUntil(over, park);
    }
  }

  /** Returns whether the thread has slept in this wait, after {@link TcpEnd#beginSleep}. */
  boolean hasSlept() {
    return slept;
  }

  private void park() {
    if (!slept) {
      slept = true;
      tcp.beginSleep();
    }
    if (endless) {
      LockSupport.park(tcp);
    } else {
      LockSupport.parkNanos(tcp, end - System.nanoTime());
    }
  }
}
