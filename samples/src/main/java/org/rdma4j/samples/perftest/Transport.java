package org.rdma4j.samples.perftest;

import org.rdma4j.verbs.QueuePairType;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

/** The types of queue pairs that tests use, by their names on the command line. */
enum Transport {
  RC(QueuePairType.RELIABLE_CONNECTION, 0),
  UC(QueuePairType.UNRELIABLE_CONNECTION, 0),
  UD(QueuePairType.UNRELIABLE_DATAGRAM, GlobalRoutingHeader.BYTES);

  private final QueuePairType type;
  private final int headerBytes;

  Transport(QueuePairType type, int headerBytes) {
    this.type = type;
    this.headerBytes = headerBytes;
  }

  QueuePairType type() {
    return type;
  }

  /** Returns the number of bytes that precede each received message. */
  int headerBytes() {
    return headerBytes;
  }
}
