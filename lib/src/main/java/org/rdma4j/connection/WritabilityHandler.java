package org.rdma4j.connection;

/**
 * Told when a connection has so much to send that the program should wait, and when it should go
 * on. {@link RdmaConnection#onWritability} sets it.
 */
@FunctionalInterface
public interface WritabilityHandler {
  /**
   * The connection has become writable, or is not any more. It runs under the rules of {@link
   * MessageHandler}: it must not wait. What it throws is logged.
   *
   * @param writable what {@link RdmaConnection#isWritable} returned a moment ago
   */
  void changed(boolean writable);
}
