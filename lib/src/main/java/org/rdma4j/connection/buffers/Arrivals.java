package org.rdma4j.connection.buffers;

import org.jspecify.annotations.Nullable;

/**
 * The long messages of the peer of one connection, as far as they have buffers, and the long
 * answers to the peer. The lock of {@link LargeBuffers} guards it.
 */
public final class Arrivals {
  /** The bytes of messages of the peer at most, unless there is only one. */
  final long max;

  /** The bytes of the messages that are being fetched, or that the user holds. */
  long bytes;

  /** The bytes of answers, and of messages that are sent on, which were not fetched. */
  long answers;

  /** The bytes that were granted for the next buffer, which was not taken yet. */
  long granted;

  /** The class of the buffer that waits to be granted. */
  int wanted;

  /** What to do when it is granted; null if none has waited. */
  @Nullable Runnable whenGranted;

  /**
   * Creates the arrivals of a new connection, which are none.
   *
   * @param max the bytes of messages of the peer at most, unless there is only one
   */
  public Arrivals(long max) {
    this.max = max;
  }
}
