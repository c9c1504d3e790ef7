package org.rdma4j.connection.buffers;

/**
 * The receives of the device that are promised to the peer of one connection.
 *
 * <p>Not safe for use by several threads: the lock of the connection guards it.
 */
public final class PromisedReceives {
  private final ReceiveSupply supply;
  private int count;
  private boolean ended;

  /** Receives that the peer may use, because it cannot know that they are missing. */
  private int missing;

  public PromisedReceives(ReceiveSupply supply) {
    this.supply = supply;
  }

  /** Promises more receives; returns whether there are so many, otherwise promises none. */
  public boolean add(int receives) {
    return !ended && counted(receives, supply.promise(receives));
  }

  /** Promises receives as {@link #add} does, without which the peer could send nothing. */
  public boolean addNeeded(int receives) {
    return !ended && counted(receives, supply.promiseNeeded(receives));
  }

  /** Promises one receive, however many buffers are in use; returns whether there is one. */
  public boolean addOne() {
    return !ended && counted(1, supply.promiseOne());
  }

  private boolean counted(int receives, boolean promised) {
    if (promised) {
      count += receives;
    }
    return promised;
  }

  /** Promises one again that the peer has used: immediately, or as soon as there is one. */
  public void renew() {
    missing++;
    renewOwed();
  }

  /** Promises the missing ones, as far as there are some; returns whether none is missing. */
  public boolean renewOwed() {
    while (missing > 0 && addNeeded(1)) {
      missing--;
    }
    return missing == 0;
  }

  /** Records that the peer used one: one of another peer, if it has none. */
  public void used() {
    if (count == 0) {
      supply.lost();
    } else {
      supply.arrived();
      count--;
    }
  }

  /** Takes some back, unless all were. */
  public void withdraw(int receives) {
    if (!ended) {
      supply.withdraw(receives);
      count -= receives;
    }
  }

  /** Takes all back, after the peer can no longer send, and promises no more. */
  public void withdrawAll() {
    withdraw(count);
    ended = true;
  }

  /** Returns the number of receives that the peer may use now. */
  public int count() {
    return count;
  }
}
