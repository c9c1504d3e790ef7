package org.rdma4j.datapath;

/** What each request of an extended queue pair names as its destination, and where it has that. */
public enum Destination {
  /** Nothing: the queue pair is connected. */
  NONE(0, 0, 0),
  /** An address handle and a queue pair, for a datagram. */
  DATAGRAM(SendLayout.UD_AH, SendLayout.UD_REMOTE_QPN, SendLayout.UD_REMOTE_QKEY),
  /** An address handle and a queue pair, for a send, a read or a write of SRD. */
  RELIABLE_DATAGRAM(SendLayout.RD_AH, SendLayout.RD_REMOTE_QPN, SendLayout.RD_REMOTE_QKEY),
  /** A shared receive queue of the peer. */
  SHARED_RECEIVE_QUEUE(0, 0, 0);

  final long handle;
  final long queuePairNumber;
  final long queueKey;

  Destination(long handle, long queuePairNumber, long queueKey) {
    this.handle = handle;
    this.queuePairNumber = queuePairNumber;
    this.queueKey = queueKey;
  }

  /** Returns whether each request names an address handle and a queue pair. */
  public boolean isDatagram() {
    return handle != 0;
  }

  /** Writes the destination of a datagram into a request. */
  public void write(long request, long addressHandle, int number, int key) {
    RawMemory.putLong(request + handle, addressHandle);
    RawMemory.putInt(request + queuePairNumber, number);
    RawMemory.putInt(request + queueKey, key);
  }
}
