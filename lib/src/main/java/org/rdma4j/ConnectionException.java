package org.rdma4j;

import org.jspecify.annotations.Nullable;

/**
 * A connection of {@link org.rdma4j.connection} could not be established, or has ended otherwise
 * than by a close of this side. {@link #reason} is the reason, so that a program can decide whether
 * to connect again; the message and the cause say more.
 *
 * <p>{@link #errno} is ECONNREFUSED, ECONNRESET, ENODEV or EPROTO, or what a call has failed with;
 * 0 for {@link Reason#BROKEN_HERE}.
 */
public final class ConnectionException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** Why there is no connection. */
  public enum Reason {
    /**
     * No program listens at the address, or it has rejected the connection. The cause is a {@link
     * org.rdma4j.cm.ConnectionRejectedException}, with what the peer has sent with the rejection.
     */
    REFUSED,
    /**
     * The address cannot be reached over RDMA, or the peer does not answer, also if it did before:
     * its machine or the network may be down.
     */
    UNREACHABLE,
    /**
     * The other side is another program, or has another version of the protocol, or has broken the
     * protocol. To connect again does not help.
     */
    PROTOCOL,
    /** The peer has closed the connection. What it sent before can still be received. */
    CLOSED_BY_PEER,
    /**
     * The peer's process has ended without closing the connection, or the peer has closed it in the
     * middle of a message or has broken it, which the message then states.
     */
    RESET,
    /** The device of this side was removed. */
    DEVICE_REMOVED,
    /**
     * This side has broken the connection: an operation failed, a handler of messages threw an
     * exception, or memory was missing. The cause says which.
     */
    BROKEN_HERE
  }

  /** See {@link #reason}. */
  private final Reason reason;

  /**
   * Creates the exception.
   *
   * @param reason why there is no connection
   * @param call the connection, or the call that has failed
   * @param errno what it has failed with; 0 if there is none
   * @param advice what has happened, and what to do
   * @param cause what has caused it, or null
   */
  public ConnectionException(
      Reason reason, String call, int errno, String advice, @Nullable Throwable cause) {
    super(call, errno, advice);
    this.reason = reason;
    initCause(cause);
  }

  /**
   * Creates the exception with the advice that follows from the call and the errno.
   *
   * @param reason why there is no connection
   * @param call the connection, or the call that has failed
   * @param errno what it has failed with
   */
  public ConnectionException(Reason reason, String call, int errno) {
    super(call, errno);
    this.reason = reason;
  }

  /**
   * Creates the exception for a connection that cannot be established because a call failed.
   *
   * @param reason why there is no connection
   * @param call the connection
   * @param cause how the call failed
   */
  public ConnectionException(Reason reason, String call, RdmaException cause) {
    this(reason, call, cause.errno(), cause.advice(), cause);
  }

  /**
   * Returns why there is no connection.
   *
   * @return the reason
   */
  public Reason reason() {
    return reason;
  }
}
