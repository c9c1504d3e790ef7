package org.rdma4j.datapath;

/** What each request of an extended queue pair names as its destination. */
public enum Destination {
  /** Nothing: the queue pair is connected. */
  NONE,
  /** An address handle and a queue pair, for a datagram. */
  DATAGRAM,
  /** An address handle and a queue pair, for a send, a read or a write of SRD. */
  RELIABLE_DATAGRAM,
  /** A shared receive queue of the peer. */
  SHARED_RECEIVE_QUEUE
}
