package org.rdma4j.tools.perftest;

/**
 * The channel over which both sides exchange what they need to know. They take turns: the client
 * sends first, then the server answers.
 */
interface Control extends AutoCloseable {
  /**
   * Sends a message, and returns that of the peer, which has the same length.
   *
   * @param mine the message
   * @param patiently whether the peer may take as long as its part of the test takes
   */
  byte[] exchange(byte[] mine, boolean patiently);

  /**
   * Sends the address of a queue pair, and returns one of the peer.
   *
   * @param mine the address
   * @param patiently whether the peer may take as long as its part of the test takes
   */
  Keys exchange(Keys mine, boolean patiently);

  /** Notifies the peer that nothing follows. */
  void end();

  @Override
  void close();
}
