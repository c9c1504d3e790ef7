package org.rdma4j.samples.rcopy;

/** A copy that failed. The message says what happened, then what to do; the peer may know it. */
final class CopyFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CopyFailure(String message) {
    super(message);
  }

  CopyFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
