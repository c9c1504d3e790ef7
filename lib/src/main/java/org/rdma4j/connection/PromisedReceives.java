package org.rdma4j.connection;

/**
 * The receives of the device that are promised to the peer of one connection.
 *
 * <p>Not safe for use by several threads: the lock of the connection guards it.
 */
final class PromisedReceives {
  private final ReceiveSupply supply;
  private int count;
  private boolean ended;

  /** Those that the peer may use, because it cannot know that they are missing. */
  private int missing;

  PromisedReceives(ReceiveSupply supply) {
    this.supply = supply;
  }

  /** Promises more receives; returns whether there are so many, otherwise promises none. */
  boolean add(int receives) {
    return !ended && counted(receives, supply.promise(receives));
  }

  /** Promises receives as {@link #add} does, without which the peer could send nothing. */
  boolean addNeeded(int receives) {
    return !ended && counted(receives, supply.promiseNeeded(receives));
  }

  private boolean counted(int receives, boolean promised) {
    if (promised) {
      count += receives;
    }
    return promised;
  }

  /** Promises one again that the peer has used: at once, or as soon as there is one. */
  void renew() {
    missing++;
    renewOwed();
  }

  /** Promises those that are missing, if there are so many now; returns whether none is missing. */
  boolean renewOwed() {
    if (missing > 0 && addNeeded(missing)) {
      missing = 0;
    }
    return missing == 0;
  }

  /** Notes that the peer used one. */
  void used() {
    supply.arrived();
    count--;
  }

  /** Takes some back. */
  void withdraw(int receives) {
    supply.withdraw(receives);
    count -= receives;
  }

  /** Takes all back, after the peer can no longer send, and promises no more. */
  void withdrawAll() {
    ended = true;
    withdraw(count);
  }
}
