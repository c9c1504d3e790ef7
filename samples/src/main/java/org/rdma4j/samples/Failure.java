package org.rdma4j.samples;

/** What a user can do something about: the message says what happened, and what to do. */
final class Failure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Failure(String message) {
    super(message);
  }

  Failure(String message, Throwable cause) {
    super(message, cause);
  }
}
