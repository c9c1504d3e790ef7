package org.rdma4j.platform;

import java.util.concurrent.locks.ReentrantLock;

/**
 * The order of the library's locks: a thread that holds a lock waits only for later ones, so no two
 * threads wait for each other. A thread that calls {@link ReentrantLock#tryLock()} does not wait,
 * so it may have any.
 *
 * <p>If the system property {@code org.rdma4j.locks} is {@code checked}, each lock checks this, so
 * that a thread that breaks the order fails also if no other thread is in its way. The tests on
 * devices set it. Monitors are not checked.
 */
public enum LockOrder {
  /** Held by a thread that waits for the descriptors of a loop. */
  LOOP,

  /** Held by a thread that polls, also while it calls handlers: others take the turn over then. */
  POLLING_TURN,

  LISTENING,
  ACCEPT_QUEUE,
  LINK,
  RECEIVE_SUPPLY,
  LARGE_BUFFERS,
  BUFFER_POOL,
  BLOCKING_WORK,

  /** A migration takes two of them, in the order of their addresses. */
  CHANNEL_OF_EVENTS,

  LIFETIME;

  private static final boolean CHECKED = "checked".equals(System.getProperty("org.rdma4j.locks"));

  /**
   * Creates a lock.
   *
   * @return a lock that has this place in the order
   */
  public ReentrantLock newLock() {
    return CHECKED ? new CheckedLock(this) : new ReentrantLock();
  }

  /**
   * Checks, if locks are checked, that the calling thread holds none that others need. Code of
   * users may wait for anything, so it is called only then.
   */
  public static void checkBeforeUserCode() {
    if (CHECKED) {
      CheckedLock.checkHeldUpTo(POLLING_TURN);
    }
  }
}
