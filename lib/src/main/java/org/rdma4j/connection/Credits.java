package org.rdma4j.connection;

/**
 * The flow control of one side of a connection. Each message to the peer spends a credit, which
 * stands for a receive that the peer has posted; the peer returns it once that receive is posted
 * again. So a message never arrives at a queue pair without a receive.
 *
 * <p>Not safe for use by several threads: the lock of the connection guards it.
 */
final class Credits {
  private final int receives;
  private final int peerReceives;
  private int available;
  private int owed;

  /**
   * Creates the credits of a new connection, all of them available.
   *
   * @param receives the number of messages that this side has receives for
   * @param peerReceives the number of messages that the peer has receives for
   */
  Credits(int receives, int peerReceives) {
    this.receives = receives;
    this.peerReceives = peerReceives;
    this.available = peerReceives;
  }

  /** Returns whether a message may be sent. */
  boolean isAvailable() {
    return available > 0;
  }

  /** Spends one of the available credits on a message to the peer. */
  void spend() {
    available--;
  }

  /** Returns the number of credits that were spent and not restored yet. */
  int outstanding() {
    return peerReceives - available;
  }

  /**
   * Makes credits available again that the peer returned. More than are outstanding are refused:
   * they would let this side send to a queue pair without a receive.
   *
   * @return whether that many were outstanding; if not, nothing has changed
   */
  boolean restore(int returned) {
    if (returned > outstanding()) {
      return false;
    }
    available += returned;
    return true;
  }

  /** Notes that a receive was posted again, whose credit now belongs to the peer. */
  void owe() {
    owed++;
  }

  /** Returns the number of credits owed to the peer, and owes none from now on. */
  int takeOwed() {
    int taken = owed;
    owed = 0;
    return taken;
  }

  /**
   * Returns whether the owed credits are due in a message of their own: half of all receives or
   * more. So at most two such messages are unread at a time.
   */
  boolean isUpdateDue() {
    return owed * 2 >= receives;
  }
}
