package org.rdma4j.connection.session;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.ConnectionException;
import org.rdma4j.ConnectionException.Reason;
import org.rdma4j.ErrorNumber;
import org.rdma4j.connection.wire.MessageHeader;

/**
 * Whether a connection is open, ended by either side, broken or closed. The {@link Session} changes
 * it; the lock of the connection guards it.
 *
 * <p>What this side has done and what has failed is the {@link Stage}, what the peer has said is in
 * {@link Peer}. Both only go forward.
 */
public final class Lifecycle {
  /**
   * What this side has done, and what has failed.
   *
   * <table>
   * <caption>The changes, and when they happen</caption>
   * <tr><th>from</th><th>to</th><th>when</th></tr>
   * <tr><td>OPEN</td><td>BROKEN</td><td>the device or the protocol fails</td></tr>
   * <tr><td>OPEN</td><td>CLOSING</td><td>the user closes the connection</td></tr>
   * <tr><td>CLOSING</td><td>UNREACHABLE</td><td>the device or the protocol fails</td></tr>
   * <tr><td>BROKEN</td><td>ENDING</td><td>the user closes the connection</td></tr>
   * <tr><td>any</td><td>ENDING</td><td>the close waits no longer, or what the connection needs is
   * closed</td></tr>
   * </table>
   */
  private enum Stage {
    OPEN,

    /** The connection has failed, and the user has not closed it. */
    BROKEN,

    /** A close has begun, and waits until the peer has what was sent. */
    CLOSING,

    /** A close has begun, and nothing reaches the peer any more. */
    UNREACHABLE,

    /** A close has begun, and does not wait for what is in flight. */
    ENDING;

    private boolean mayFollow(Stage before) {
      return switch (this) {
        case OPEN -> false;
        case BROKEN, CLOSING -> before == OPEN;
        case UNREACHABLE -> before == CLOSING;
        case ENDING -> true;
      };
    }
  }

  /** What the peer has said. */
  private enum Peer {
    SENDS,

    /** It sends nothing more. */
    HAS_ENDED,

    /** It sends nothing more, and receives nothing more. */
    HAS_CLOSED
  }

  private final String connection;
  private final Supplier<IllegalStateException> closedException;
  private final Sending sending;
  private final Deliveries deliveries;

  private Stage stage = Stage.OPEN;
  private Peer peer = Peer.SENDS;

  /** Whether this side has said that it sends nothing more. */
  private boolean outputEnded;

  /** Whether its user has closed it, rather than what it needs. */
  private boolean closedByUser;

  /** Whether the device takes no requests any more. */
  private boolean stopped;

  /** Why the connection is broken, also once the user has closed it; null if it is not broken. */
  private @Nullable ConnectionException failure;

  /** Whether the peer has reported why it broke the connection. */
  private boolean brokenByPeer;

  /** Whether something that the user had sent did not arrive, although a close had begun before. */
  private boolean lostWhileClosing;

  /** Why nothing reaches the peer any more, although a close had begun before; null if it may. */
  private @Nullable ConnectionException goneWhileClosing;

  /** Whether anything of this has changed since {@link #takeChanged}. */
  private boolean changed;

  Lifecycle(
      String connection,
      Supplier<IllegalStateException> closedException,
      Sending sending,
      Deliveries deliveries) {
    this.connection = connection;
    this.closedException = closedException;
    this.sending = sending;
    this.deliveries = deliveries;
  }

  /** Returns whether nothing more can be sent. */
  public boolean isUseless() {
    return stage != Stage.OPEN || peer == Peer.HAS_CLOSED;
  }

  /** Returns whether both sides can send. */
  public boolean isOpen() {
    return stage == Stage.OPEN && peer == Peer.SENDS;
  }

  /** Returns whether a close has begun. */
  public boolean isClosing() {
    return switch (stage) {
      case OPEN, BROKEN -> false;
      case CLOSING, UNREACHABLE, ENDING -> true;
    };
  }

  /** Returns whether the peer has closed the connection. */
  public boolean isPeerClosed() {
    return peer == Peer.HAS_CLOSED;
  }

  /** Returns whether the peer sends nothing more. */
  public boolean isInputEnded() {
    return peer != Peer.SENDS;
  }

  boolean isOutputEnded() {
    return outputEnded;
  }

  /**
   * Returns whether requests are posted and messages are fetched: also while a close waits, because
   * the close of the peer may wait for that.
   */
  public boolean goesOn() {
    return stage == Stage.OPEN || stage == Stage.CLOSING;
  }

  /** Returns whether what is being fetched may still arrive. */
  boolean mayReceive() {
    return stage == Stage.OPEN && !stopped;
  }

  /** Returns why it is broken; null if it is not. */
  public @Nullable ConnectionException failure() {
    return failure;
  }

  /** Returns why the peer fetches nothing any more that was offered; null if it may. */
  @Nullable RuntimeException whyOver() {
    return failure == null && isPeerClosed() ? closedByPeer() : failure;
  }

  /** Returns why nothing reaches the peer any more, although a close had begun before. */
  public @Nullable ConnectionException goneWhileClosing() {
    return goneWhileClosing;
  }

  /**
   * Returns whether something that the user had sent before the close may not have arrived. The
   * goodbye is not: a peer that closes at the same time need not take it.
   */
  public boolean hasLostWhileClosing() {
    return lostWhileClosing || (isClosing() && hasLost());
  }

  private boolean hasLost() {
    return !isPeerClosed() && sending.hasRequestsOfUser();
  }

  /** Returns whether the connection broke because the peer's process or connection ended. */
  public boolean hasPeerGone() {
    return failure != null && failure.reason() == Reason.RESET && !brokenByPeer;
  }

  /** Returns whether anything has changed since the last call. */
  public boolean takeChanged() {
    boolean was = changed;
    changed = false;
    return was;
  }

  /** Throws if it is closed. */
  public void checkOpen() {
    if (isClosing()) {
      // If the user did not close it, the exception has the reason of the close.
      throw failure != null && !closedByUser ? failure : closedException.get();
    }
  }

  /** Throws if no request can be posted. */
  public void checkCanSend() {
    checkOpen();
    if (failure != null) {
      throw failure;
    }
    if (isPeerClosed()) {
      throw closedByPeer();
    }
  }

  /** Throws if no message can be sent. */
  public void checkOutputOpen() {
    checkCanSend();
    if (outputEnded) {
      throw new IllegalStateException(
          connection + " has said that it sends nothing more: send before endOutput()");
    }
  }

  ConnectionException because(Reason reason, String text, @Nullable Throwable cause) {
    int errno =
        switch (reason) {
          case RESET, CLOSED_BY_PEER, UNREACHABLE -> ErrorNumber.ECONNRESET.value();
          case PROTOCOL -> ErrorNumber.EPROTO.value();
          default -> 0;
        };
    return new ConnectionException(reason, connection, errno, text, cause);
  }

  private ConnectionException closedByPeer() {
    return because(Reason.CLOSED_BY_PEER, "The peer has closed the connection", null);
  }

  /** Records that this side sends nothing more. */
  void outputEnded() {
    outputEnded = true;
  }

  /**
   * Notes what the last message of the peer says.
   *
   * @param inMessage whether it comes before the last piece of a message
   * @return what is wrong with it; null if nothing is
   */
  @Nullable String peerEnded(int flags, boolean inMessage, Supplier<String> reason) {
    if (flags == MessageHeader.BROKEN) {
      brokenByPeer = true;
      fail(because(Reason.RESET, "The peer broke the connection: " + reason.get(), null));
      return null;
    }
    if ((flags & ~MessageHeader.CLOSED) != 0) {
      return "it ended the connection with the flags " + flags;
    }
    if (flags == 0 && isInputEnded()) {
      return "it ended its output twice";
    }
    if (inMessage) {
      fail(because(Reason.RESET, "The peer ended the connection in the middle of a message", null));
      return null;
    }
    peer = flags == MessageHeader.CLOSED ? Peer.HAS_CLOSED : Peer.HAS_ENDED;
    changed = true;
    if (isPeerClosed()) {
      ConnectionException closed = closedByPeer();
      sending.failMessages(closed);
      deliveries.failPending(closed);
      deliveries.ended(null);
    } else {
      deliveries.inputEnded();
    }
    return null;
  }

  /** Breaks the connection. Only the first failure counts: the others are its consequences. */
  void fail(ConnectionException reason) {
    if (failure != null) {
      return;
    }
    if (isClosing()) {
      failWhileClosing(reason);
      return;
    }
    enter(Stage.BROKEN);
    failure = reason;
    if (!isPeerClosed()) {
      deliveries.ended(reason);
    }
    failAll(reason);
  }

  private void failWhileClosing(ConnectionException reason) {
    if (goneWhileClosing == null) {
      lostWhileClosing = hasLost();
      goneWhileClosing = reason;
      enter(stage == Stage.CLOSING ? Stage.UNREACHABLE : stage);
    }
  }

  /** Begins a close by the user; returns whether the peer can be notified of it. */
  boolean beginClose() {
    closedByUser = true;
    boolean reachesPeer = !isUseless();
    switch (stage) {
      case OPEN -> enter(Stage.CLOSING);
      case BROKEN -> enter(Stage.ENDING);
      case CLOSING, UNREACHABLE, ENDING -> enter(stage);
    }
    return reachesPeer;
  }

  /** Begins to close the connection immediately. */
  void stop() {
    enter(Stage.ENDING);
    failAll(closedException.get());
  }

  private void enter(Stage next) {
    if (next != stage && !next.mayFollow(stage)) {
      throw new AssertionError(connection + " must not change from " + stage + " to " + next);
    }
    stage = next;
    changed = true;
  }

  /** Records that the device takes no requests any more. */
  void stopped() {
    stopped = true;
  }

  private void failAll(RuntimeException reason) {
    sending.failAll(reason);
    deliveries.failPending(reason);
  }
}
