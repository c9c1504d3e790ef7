package org.rdma4j.soak;

import org.jspecify.annotations.Nullable;

/** One side of a connection that carries messages, whichever API made it. */
public interface Link extends AutoCloseable {
  /** The longest message that {@link Soak} sends. */
  int MAX_BYTES = 4096;

  /** Sends a message, which may be empty, and waits until it has arrived or is in flight. */
  void send(byte[] message) throws Exception;

  /** Waits for a message; null if the peer has ended, or has been silent for a while. */
  byte @Nullable [] receive() throws Exception;

  @Override
  void close();
}
