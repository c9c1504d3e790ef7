package org.rdma4j.connection.session;

/**
 * A range of memory that the peer may access: what an offer names. It ends before the memory is
 * used for anything else.
 */
public interface Exposure {
  /** Returns the address under which the peer accesses the range. */
  long address();

  /** Returns the key with which the peer accesses the range. */
  int key();

  /**
   * Returns whether requests of the connection begin and end it, a bind and an invalidate. If not,
   * it has begun when it was created, and only {@link #end} ends it.
   */
  boolean isBound();

  /** Takes back what requests begin and end, before they have begun it or after they ended it. */
  void release();

  /**
   * Ends it, whatever its state: when this returns, no peer can access the range. This is a call of
   * the kernel. Does nothing if it has ended.
   */
  void end();
}
