package org.rdma4j.connection.session;

/** What one end of a connection has transferred. The lock of the connection guards it. */
public final class Counts {
  /** The messages that were posted. */
  public long sentMessages;

  /** Their bytes, without bytes that the peer fetches. */
  public long sentBytes;

  /** The messages that have arrived. */
  public long receivedMessages;

  /** Their bytes. */
  public long receivedBytes;

  /** The reads of users that were posted. */
  public long reads;

  /** Their bytes. */
  public long readBytes;

  /** The writes of users that were posted. */
  public long writes;

  /** Their bytes. */
  public long writtenBytes;

  /** The atomic operations that were posted. */
  public long atomics;

  Counts() {}
}
