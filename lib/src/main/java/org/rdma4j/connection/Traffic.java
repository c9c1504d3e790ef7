package org.rdma4j.connection;

import org.rdma4j.connection.session.Counts;

/**
 * What was transferred, until one moment.
 *
 * @param sentMessages the number of messages that were given to the device
 * @param sentBytes the number of their bytes, without bytes that the peer fetches
 * @param receivedMessages the number of messages that have arrived
 * @param receivedBytes the number of their bytes
 * @param reads the number of reads of the peer's memory that were given to the device
 * @param readBytes the number of their bytes
 * @param writes the number of writes to the peer's memory that were given to the device
 * @param writtenBytes the number of their bytes
 * @param atomics the number of atomic operations that were given to the device, of 8 bytes each
 */
public record Traffic(
    long sentMessages,
    long sentBytes,
    long receivedMessages,
    long receivedBytes,
    long reads,
    long readBytes,
    long writes,
    long writtenBytes,
    long atomics) {
  static final Traffic NONE = new Traffic(0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** Returns what one connection has transferred until now. */
  static Traffic of(Counts counts) {
    return new Traffic(
        counts.sentMessages,
        counts.sentBytes,
        counts.receivedMessages,
        counts.receivedBytes,
        counts.reads,
        counts.readBytes,
        counts.writes,
        counts.writtenBytes,
        counts.atomics);
  }

  /** Returns the sum of this and other traffic. */
  Traffic plus(Traffic other) {
    return new Traffic(
        sentMessages + other.sentMessages,
        sentBytes + other.sentBytes,
        receivedMessages + other.receivedMessages,
        receivedBytes + other.receivedBytes,
        reads + other.reads,
        readBytes + other.readBytes,
        writes + other.writes,
        writtenBytes + other.writtenBytes,
        atomics + other.atomics);
  }
}
