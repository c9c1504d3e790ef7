package org.rdma4j.verbs;

import org.rdma4j.RdmaException;

/** A work request ended in failure: a completion whose status is not SUCCESS. */
public final class WorkCompletionException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** How the request ended. */
  private final CompletionStatus status;

  /** The provider's code. */
  private final int vendorError;

  /** The id of the request. */
  private final long workRequestId;

  /** The number of the queue pair. */
  private final int queuePairNumber;

  WorkCompletionException(
      CompletionStatus status, int vendorError, long workRequestId, int queuePairNumber) {
    super(
        "work request %d of queue pair %d".formatted(workRequestId, queuePairNumber),
        0,
        status + " (vendor error 0x" + Integer.toHexString(vendorError) + ")");
    this.status = status;
    this.vendorError = vendorError;
    this.workRequestId = workRequestId;
    this.queuePairNumber = queuePairNumber;
  }

  /**
   * How it ended.
   *
   * @return the status, which is not SUCCESS
   */
  public CompletionStatus status() {
    return status;
  }

  /**
   * The provider's own code of what happened.
   *
   * @return {@code vendor_err} of {@code struct ibv_wc}
   */
  public int vendorError() {
    return vendorError;
  }

  /**
   * The request.
   *
   * @return the id that it was posted with
   */
  public long workRequestId() {
    return workRequestId;
  }

  /**
   * The queue pair it was posted to.
   *
   * @return its number
   */
  public int queuePairNumber() {
    return queuePairNumber;
  }
}
