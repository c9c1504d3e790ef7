package org.rdma4j.connection.session;

import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;

/**
 * A message whose bytes are being fetched from the peer, piece by piece. It is used again and
 * again, so that a message allocates nothing.
 */
final class Incoming {
  private @Nullable Buffer target;
  private int number;
  private boolean whole;
  private long total;

  /** The number of bytes that have been offered. */
  long offered;

  /** The number of bytes that have not been fetched. */
  long missing;

  /**
   * Begins a message of which nothing was fetched.
   *
   * @param isWhole whether it is offered as a whole
   */
  void begin(int messageNumber, boolean isWhole, Buffer into, long bytes) {
    number = messageNumber;
    whole = isWhole;
    target = into;
    total = bytes;
    offered = 0;
    missing = bytes;
  }

  /** Forgets the message. */
  void clear() {
    target = null;
  }

  int number() {
    return number;
  }

  boolean isWhole() {
    return whole;
  }

  /** Returns what it is fetched into. */
  Buffer target() {
    if (target == null) {
      throw new AssertionError("no message");
    }
    return target;
  }

  long total() {
    return total;
  }
}
