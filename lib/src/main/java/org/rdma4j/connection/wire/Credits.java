package org.rdma4j.connection.wire;

/**
 * The flow control of one side of a connection. Each message to the peer spends a credit, which
 * stands for a receive that the peer has set aside; the peer grants a new one once it has room for
 * another message. So a message never arrives at a device without a receive.
 *
 * <p>The number of credits that the peer may have, the window, starts at {@link #FIRST_WINDOW} and
 * doubles whenever the peer has used up all of them or says that it lacked one, up to a maximum. A
 * peer that sends nothing for a while gives back all but the first: a quiet connection holds one.
 *
 * <p>Not safe for use by several threads: the lock of the connection guards it.
 */
public final class Credits {
  /** The window of a quiet connection. Its first message makes it {@link #WINDOW_OF_ANSWERS}. */
  public static final int FIRST_WINDOW = 1;

  /** One message on the way and one more, so that a peer that waits for answers never waits. */
  private static final int WINDOW_OF_ANSWERS = 2;

  private final int maxWindow;
  private int maxAvailable;
  private int window = FIRST_WINDOW;
  private int granted = FIRST_WINDOW;
  private int held;
  private int available;
  private boolean lacked;
  private boolean mayAsk;
  private boolean mayKeepOne;

  /**
   * Creates the credits of a new connection.
   *
   * @param maxWindow the number of credits that the peer may have at most
   */
  public Credits(int maxWindow) {
    this.maxWindow = maxWindow;
  }

  /**
   * Sets what the peer says it grants.
   *
   * @param first the number of credits at first
   * @param max the number of credits at most
   * @param asks whether the peer knows {@link MessageHeader#LACKED_CREDIT}
   * @param keepsOne whether the peer knows {@link Hello#ONE_RECEIVE}: one credit can be left then
   *     after the others were given back
   */
  public void begin(int first, int max, boolean asks, boolean keepsOne) {
    mayAsk = asks;
    mayKeepOne = keepsOne;
    available = first;
    maxAvailable = max;
  }

  /** Returns the number of messages that may be sent. */
  public int available() {
    return available;
  }

  /** Records that this side has more to send than it may. */
  public void lacked() {
    lacked = true;
  }

  /**
   * Returns once whether this side has {@link #lacked} credits, of which the peer is to be
   * notified.
   */
  public boolean takeLacked() {
    boolean told = lacked && mayAsk;
    lacked = false;
    return told;
  }

  /** Spends one of the available credits on a message to the peer. */
  public void spend() {
    available--;
  }

  /**
   * Makes credits available that the peer grants. More than the peer said it has are refused.
   *
   * @return whether that is possible; if not, nothing has changed
   */
  public boolean restore(int returned) {
    if (returned > maxAvailable - available) {
      return false;
    }
    available += returned;
    return true;
  }

  /** Returns the number of credits that the peer has, including those on the way to it. */
  public int granted() {
    return granted;
  }

  /**
   * Records that a message of the peer has arrived, which occupies a place until {@link #freed}.
   *
   * @return whether the peer had a credit for it; if not, nothing has changed
   */
  public boolean arrived() {
    if (granted == 0) {
      return false;
    }
    granted--;
    held++;
    if (granted == 0) {
      widen();
    }
    return true;
  }

  /**
   * Doubles the window, up to its maximum. The peer asks for that if it lacks a credit: on a slow
   * wire it may lack one although credits in flight to it count as granted.
   */
  public void widen() {
    window = Math.min(2 * window, maxWindow);
  }

  /**
   * Records that a message that has arrived together with others, and is copied out of their
   * buffer, occupies a place of its own until {@link #freed}. It {@link #mayCopy may} do so.
   */
  public void copied() {
    held++;
  }

  /**
   * Returns whether a message may be {@link #copied}: not if twice as many places as the window has
   * are occupied or promised, so that a user can hold as many messages as the peer can send.
   */
  public boolean mayCopy() {
    return held + granted < 2 * maxWindow;
  }

  /** Records that a message that had arrived no longer occupies a place. */
  public void freed() {
    held--;
  }

  /**
   * Returns the number of credits that the peer can be granted. A peer without any gets one also
   * while a message is held, which may wait for its other pieces.
   */
  public int owed() {
    int places = granted == 0 ? Math.max(window, WINDOW_OF_ANSWERS) : window;
    return Math.max(0, places - granted - held);
  }

  /**
   * Returns whether the owed credits are due in a message of their own: half of the window or more.
   * So at most two such messages are unread at a time. With a small window they are due only if the
   * peer has none left, because the answer to a message carries the credit for the next one.
   */
  public boolean isDue() {
    int owed = owed();
    return owed > 0 && (granted == 0 || (window > WINDOW_OF_ANSWERS && 2 * owed >= window));
  }

  /** Returns whether a quiet connection has credits to {@link #giveBack}. */
  public boolean hasSurplus() {
    return available > FIRST_WINDOW + (mayKeepOne ? 0 : 1);
  }

  /**
   * Gives back the available credits that a quiet connection does not need. One of the remaining
   * ones is for the message that notifies the peer.
   *
   * @return their number, without that of this message
   */
  public int giveBack() {
    int returned = Math.max(0, available - FIRST_WINDOW - 1);
    available -= returned;
    return returned;
  }

  /**
   * Takes back credits that the peer does not use.
   *
   * @return whether the peer had them; if not, nothing has changed
   */
  public boolean takeBack(long returned) {
    if (returned < 0 || returned > granted) {
      return false;
    }
    granted -= (int) returned;
    window = FIRST_WINDOW;
    return true;
  }

  /** Makes the window as small as at first, because receives are scarce. */
  public void shrink() {
    window = FIRST_WINDOW;
  }

  /** Records that the peer is granted credits. */
  public void grant(int credits) {
    granted += credits;
  }
}
