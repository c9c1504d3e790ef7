package org.rdma4j.nio.handover;

/** The peer has sent what it must not send. */
public final class HandoverException extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message what the peer has sent, and what was expected
   */
  public HandoverException(String message) {
    super(message);
  }
}
