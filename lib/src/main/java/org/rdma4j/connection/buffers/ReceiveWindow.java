package org.rdma4j.connection.buffers;

/** The receive window of a connection, against which a message counts until its buffer is freed. */
public interface ReceiveWindow {
  /** Records that a message no longer counts. Called in any thread, with no lock. */
  void left(Buffer buffer);
}
