package org.rdma4j.connection.session;

/** A thread that waits until a request is done. */
public interface Waiter {
  /** Wakes it. Called with the lock of the connection. */
  void wake();
}
