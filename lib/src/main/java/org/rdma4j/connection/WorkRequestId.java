package org.rdma4j.connection;

import org.rdma4j.connection.buffers.Buffer;

/**
 * The identifiers of work requests: those of receives have the highest bit and the index of the
 * buffer, the others are the numbers of requests.
 */
final class WorkRequestId {
  private static final long RECEIVE = Long.MIN_VALUE;

  private WorkRequestId() {}

  static long ofReceive(Buffer buffer) {
    return RECEIVE | buffer.index();
  }

  static boolean isReceive(long id) {
    return id < 0;
  }

  /** Returns the index of the buffer of a receive. */
  static int bufferIndex(long id) {
    return (int) id;
  }
}
