package org.rdma4j.connection.buffers;

/** Where receives are posted. One thread at a time uses it. */
public interface ReceiveQueue {
  /** Returns the number of receives that it holds at most. */
  int depth();

  /**
   * Posts a receive into each of the first buffers of an array.
   *
   * @throws RuntimeException if not all of them are posted; a {@link
   *     org.rdma4j.verbs.PostException} says how many are, otherwise none is
   */
  void post(Buffer[] buffers, int count);
}
