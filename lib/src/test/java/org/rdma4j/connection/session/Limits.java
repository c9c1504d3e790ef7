package org.rdma4j.connection.session;

import org.rdma4j.connection.wire.Hello;

/**
 * What both sides of a simulation are limited to.
 *
 * @param bufferBytes the length of the buffers of the first host
 * @param peerBufferBytes the length of the buffers of the second host
 * @param receives the number of credits that a peer has at most
 * @param sends the number of requests that a device has at most
 * @param buffers the number of buffers of a host
 * @param depth the number of receives that the queue of a host holds
 * @param sendsFirst whether the client has to send the first message
 * @param hasWindows whether devices have memory windows
 * @param features what the first host has: some of {@link Hello#FEATURES}
 * @param peerFeatures what the second host has
 */
record Limits(
    int bufferBytes,
    int peerBufferBytes,
    int receives,
    int sends,
    int buffers,
    int depth,
    boolean sendsFirst,
    boolean hasWindows,
    int features,
    int peerFeatures) {
  static final int MAX_MESSAGE = 4096;

  /** Two long messages, so that threads that send wait for memory. */
  static final int MAX_LARGE = 2 * MAX_MESSAGE;

  /** The least number of buffers that a node can have. */
  private static final int LEAST_BUFFERS = 64;

  /** What a connection needs in addition to the credits: for the protocol, and for an offer. */
  private static final int OTHER_RECEIVES = 5;

  /**
   * Returns limits so low that buffers and receives are scarce.
   *
   * @param seed chooses them
   * @param places the least number of receives for each connection that the receive queues hold
   */
  static Limits scarce(int seed, int connections, int places) {
    int buffers = connections * (10 << (seed >> 6 & 3));
    // With few places in the receive queue, receives are posted one by one.
    int depth = Math.min(buffers, connections * (places << (seed >> 9 & 3)));
    int receives = 1 << (1 + (seed >> 2 & 3));
    if (depth < connections * (receives + OTHER_RECEIVES)) {
      // Connections that have all their credits can fill the queue.
      depth = Math.min(depth, buffers - 1);
    }
    return of(seed, receives, buffers, depth);
  }

  /** Returns limits that a node can have, the lowest ones among them. */
  static Limits ofNode(int seed) {
    int buffers = LEAST_BUFFERS << (seed >> 6 & 1);
    return of(seed, Math.min(64, 2 << (seed >> 7 & 7)), buffers, buffers);
  }

  private static Limits of(int seed, int receives, int buffers, int depth) {
    return new Limits(
        48 + 16 * (seed & 3),
        48 + 16 * (seed >> 5 & 3),
        receives,
        2 << (seed >> 4 & 3),
        buffers,
        depth,
        (seed >> 8 & 1) == 0,
        (seed >> 11 & 1) == 0,
        features(seed >> 12),
        features(seed >> 13));
  }

  private static int features(int seed) {
    return ((seed & 1) == 0 ? Hello.PACKED : 0) | ((seed >> 2 & 1) == 0 ? Hello.ONE_RECEIVE : 0);
  }

  /** Returns whether the receive queue holds fewer receives than there are buffers. */
  boolean isScarce() {
    return depth < buffers;
  }

  /**
   * Returns how many buffers are in use at most: those of threads that wait for one, of received
   * messages, and those of the protocol.
   */
  int maxInUse(int connections) {
    return 3 * buffers + connections * (2 * sends + 16);
  }

  /** Returns how many bytes the long messages take at most, of senders that wait for memory. */
  static long maxLarge(int connections) {
    return MAX_LARGE + connections * 4L * MAX_MESSAGE;
  }
}
