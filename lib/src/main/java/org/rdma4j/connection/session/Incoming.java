package org.rdma4j.connection.session;

import org.rdma4j.connection.buffers.Buffer;

/** A message whose bytes are being fetched from the peer, piece by piece. */
final class Incoming {
  final int number;
  final Buffer target;
  final long total;

  /** The number of bytes that have been offered. */
  long offered;

  /** The number of bytes that have not been fetched. */
  long missing;

  Incoming(int number, Buffer target, long total) {
    this.number = number;
    this.target = target;
    this.total = total;
    this.missing = total;
  }
}
