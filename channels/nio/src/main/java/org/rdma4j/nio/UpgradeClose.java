package org.rdma4j.nio;

import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.nio.handover.Handover;

/**
 * The close of a channel with an {@link Upgrade}. TCP stays open after it, if the connection may
 * have to resume there.
 *
 * <p>The lock of the upgrade guards this. What is volatile is also read without it.
 */
final class UpgradeClose {
  /** How far the close is. It goes on to a later state only. */
  private enum State {
    OPEN,
    /** The program has closed the channel, but TCP stays open until all was delivered. */
    LINGERS,
    CLOSED
  }

  private final Upgrade upgrade;
  private final Handover handover;
  private final ReentrantLock lock;
  private volatile State state = State.OPEN;

  /**
   * Creates it.
   *
   * @param lock the lock of the upgrade
   */
  UpgradeClose(Upgrade upgrade, Handover handover, ReentrantLock lock) {
    this.upgrade = upgrade;
    this.handover = handover;
    this.lock = lock;
  }

  /** Returns true until the program closes the channel. */
  boolean isOpen() {
    return state == State.OPEN;
  }

  /** Returns whether the program has closed the channel, and TCP is still open for it. */
  boolean lingers() {
    return state == State.LINGERS;
  }

  /** Returns whether nothing more can be sent or received for the program. */
  boolean isClosed() {
    return state == State.CLOSED;
  }

  /**
   * Returns whether TCP stays open for a channel that the program closes, until the process of the
   * peer has all that may have to be sent again. A close with bytes that were not read is a reset.
   *
   * @param seconds the value of SO_LINGER
   */
  boolean delaysTcp(int seconds) {
    boolean mayResume = upgrade.hasStream() && !upgrade.stream().isOver();
    lock.lock();
    try {
      boolean delays =
          mayResume
              && upgrade.output().isMoved()
              && seconds != 0
              && !upgrade.wakeUp().isDue()
              && !upgrade.input().hasUnread();
      if (delays) {
        state = State.LINGERS;
      }
      return delays;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Closes the RDMA connection as SO_LINGER says. As with TCP, the peer sees a reset if bytes were
   * not read.
   *
   * @param seconds how long to wait until all has arrived; 0 if the peer shall see a reset
   */
  void within(int seconds) {
    boolean unread;
    Upgrade following;
    lock.lock();
    try {
      if (state == State.OPEN) {
        state = State.CLOSED;
      }
      following = upgrade.next();
      unread = handover.hasUnread();
      upgrade.claiming().end();
    } finally {
      lock.unlock();
    }
    if (following != null) {
      following.close().within(seconds);
    }
    if (!upgrade.hasStream()) {
      upgrade.rendezvous().forget(upgrade);
    } else if (upgrade.output().isResumed()) {
      upgrade.rendezvous().forget(upgrade);
      upgrade.tcp().input().dropSoon(upgrade);
    } else {
      if (lingers() && upgrade.input().isResumed()) {
        // Wakes a thread that waits for TCP.
        upgrade.tcp().endTcpInput();
      }
      RdmaStream stream = upgrade.stream();
      StreamClose.close(upgrade, stream, seconds == 0 || unread || stream.hasUnread(), seconds);
    }
  }

  /** TCP carries all of the output again. Returns whether it is to be closed now. */
  boolean endByResume() {
    lock.lock();
    try {
      boolean ends = lingers();
      if (ends) {
        state = State.CLOSED;
      }
      return ends;
    } finally {
      lock.unlock();
    }
  }

  /** Closes TCP if that was delayed, unless the connection resumes. */
  void endTcp() {
    boolean ends;
    lock.lock();
    try {
      ends = lingers() && !upgrade.isResuming();
      if (ends) {
        state = State.CLOSED;
      }
    } finally {
      lock.unlock();
    }
    if (ends) {
      upgrade.tcp().closeTcp(upgrade.isReset());
    }
  }
}
