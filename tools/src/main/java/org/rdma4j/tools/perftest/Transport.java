package org.rdma4j.tools.perftest;

import org.rdma4j.verbs.QueuePairType;
import org.rdma4j.verbs.address.GlobalRoutingHeader;

/** The types of queue pairs that tests use, by their names on the command line. */
enum Transport {
  RC,
  UC,
  UD;

  /** Returns the type. Not a field: {@link QueuePairType} would be loaded to print the help. */
  QueuePairType type() {
    return switch (this) {
      case RC -> QueuePairType.RELIABLE_CONNECTION;
      case UC -> QueuePairType.UNRELIABLE_CONNECTION;
      case UD -> QueuePairType.UNRELIABLE_DATAGRAM;
    };
  }

  /** Returns the number of bytes that precede each received message. */
  int headerBytes() {
    return this == UD ? GlobalRoutingHeader.BYTES : 0;
  }
}
