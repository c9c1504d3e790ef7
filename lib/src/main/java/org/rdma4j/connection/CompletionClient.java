package org.rdma4j.connection;

import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * A connection whose completions a {@link Poller} delivers. Whatever it throws ends this connection
 * alone: {@link #deliveryFailed} is called.
 */
interface CompletionClient {
  int queuePairNumber();

  /** Returns whether this is the first delivery of a batch to this connection. */
  boolean touch();

  /**
   * A receive has completed.
   *
   * @param buffer what was received into, which belongs to this connection now
   * @param succeeded whether the message fits into the buffer
   * @param isSend whether it is what a send of the peer sent
   * @param bytes the length of the message with its header
   */
  void received(Buffer buffer, boolean succeeded, boolean isSend, long bytes);

  /**
   * A request has completed, and all those before it.
   *
   * @param number the number of the request
   * @param failed why it failed; null if it succeeded
   */
  void completed(long number, @Nullable WorkCompletionException failed);

  /**
   * All completions of the batch were delivered.
   *
   * @return whether more is left to do, for which this is called again after the next poll
   */
  boolean batchDone();

  /** One of the other methods has thrown an exception. */
  void deliveryFailed(Throwable thrown);
}
