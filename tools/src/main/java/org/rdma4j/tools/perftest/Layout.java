package org.rdma4j.tools.perftest;

import org.rdma4j.verbs.address.GlobalRoutingHeader;

/**
 * Where the messages of each queue pair lie in the memory. The first half of the memory is sent,
 * the second half receives; in each half, each queue pair has a part of its own. In bandwidth
 * tests, short messages take turns at addresses in this part, so that a test does not only measure
 * one line of the cache. The peer must use the same parts, because it writes to them and reads from
 * them.
 *
 * @param part the length of the part of each queue pair, in bytes
 * @param queuePairs the number of queue pairs
 * @param cycle the number of bytes in which short messages take turns, at least a page
 * @param line the length of a line of the cache in bytes
 */
record Layout(long part, int queuePairs, int cycle, int line) {
  static Layout of(long maxSize, int queuePairs, int cycle, int line) {
    return new Layout(Math.max(maxSize, cycle), queuePairs, cycle, line);
  }

  /** Returns the length of all memory, with room for the header of a datagram. */
  long bytes() {
    return 2 * part * queuePairs + line + GlobalRoutingHeader.BYTES;
  }

  /** Returns the offset of the messages that a queue pair sends. */
  long outgoing(int queuePair) {
    return part * queuePair;
  }

  /** Returns the offset of the messages that a queue pair receives. */
  long incoming(int queuePair) {
    return part * (queuePairs + queuePair);
  }

  /** Returns the distance of two messages: whole lines of the cache. */
  long stride(long size) {
    return Math.ceilDiv(size, line) * line;
  }

  /** Returns the number of addresses at which messages take turns. */
  int places(long size) {
    return size <= cycle / 2 ? Math.toIntExact(cycle / stride(size)) : 1;
  }
}
