package org.rdma4j.verbs;

import org.rdma4j.RdmaException;

/**
 * Thrown for a work request that failed: its completion has a status other than SUCCESS. The
 * message contains the status and {@linkplain CompletionStatus#advice what to do about it}.
 *
 * @see Completions#requireSuccess
 * @see CompletionStatus
 */
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
        "%s (vendor error 0x%x). %s".formatted(status, vendorError, status.advice()));
    this.status = status;
    this.vendorError = vendorError;
    this.workRequestId = workRequestId;
    this.queuePairNumber = queuePairNumber;
  }

  /**
   * Returns how the request ended.
   *
   * @return a status other than SUCCESS
   */
  public CompletionStatus status() {
    return status;
  }

  /**
   * Returns the provider's own code for the failure.
   *
   * @return {@code vendor_err} of {@code struct ibv_wc}
   */
  public int vendorError() {
    return vendorError;
  }

  /**
   * Returns the id of the request.
   *
   * @return the id that it was posted with
   */
  public long workRequestId() {
    return workRequestId;
  }

  /**
   * Returns the number of the queue pair that the request was posted to.
   *
   * @return the number, 0 to 0xffffff
   */
  public int queuePairNumber() {
    return queuePairNumber;
  }
}
