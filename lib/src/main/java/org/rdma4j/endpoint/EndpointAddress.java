package org.rdma4j.endpoint;

import java.nio.ByteBuffer;
import org.rdma4j.verbs.address.Gid;
import org.rdma4j.verbs.address.QueuePairAddress;
import org.rdma4j.verbs.attribute.Mtu;

/**
 * What an endpoint tells its peer about itself when they connect.
 *
 * @param queuePair the address of its queue pair
 * @param mtu the maximum payload of a packet that its port accepts
 * @param remoteReads the number of reads and atomics of the peer that it answers at a time, from 0
 *     to 255
 * @param bufferAddress the address of the first byte of its buffer, as an unsigned number
 * @param bufferKey the remote key of its buffer; its {@link EndpointConfig#remoteAccess} says what
 *     the key permits
 * @param bufferBytes the length of its buffer in bytes, at least 1
 * @see Endpoint#local()
 * @see Endpoint#remote()
 */
public record EndpointAddress(
    QueuePairAddress queuePair,
    Mtu mtu,
    int remoteReads,
    long bufferAddress,
    int bufferKey,
    long bufferBytes) {
  /** LID, MTU, reads, a spare byte, queue pair number, sequence number, GID, and the buffer. */
  static final int ENCODED_BYTES = 2 + 2 + 1 + 1 + 4 + 4 + 16 + 8 + 4 + 8;

  /**
   * Creates an address from its parts.
   *
   * @throws IllegalArgumentException if a number is out of its range
   */
  public EndpointAddress {
    if (remoteReads < 0 || remoteReads > 0xff) {
      throw new IllegalArgumentException(
          "remoteReads is " + remoteReads + ", must be from 0 to 255");
    }
    if (bufferBytes < 1) {
      throw new IllegalArgumentException("bufferBytes is " + bufferBytes + ", must be at least 1");
    }
  }

  /** Returns the address as it is sent, in network byte order. */
  byte[] encode() {
    return ByteBuffer.allocate(ENCODED_BYTES)
        .putShort((short) queuePair.lid())
        .putShort((short) mtu.bytes())
        .put((byte) remoteReads)
        .put((byte) 0)
        .putInt(queuePair.queuePairNumber())
        .putInt(queuePair.sequenceNumber())
        .putLong(queuePair.gid().subnetPrefix())
        .putLong(queuePair.gid().interfaceId())
        .putLong(bufferAddress)
        .putInt(bufferKey)
        .putLong(bufferBytes)
        .array();
  }

  /**
   * Returns the address that {@link #encode} encoded.
   *
   * @throws HandshakeException if the bytes are not an address
   */
  static EndpointAddress decode(byte[] encoded) throws HandshakeException {
    if (encoded.length != ENCODED_BYTES) {
      throw new HandshakeException(
          "the address of an endpoint has %d bytes, the peer sent %d"
              .formatted(ENCODED_BYTES, encoded.length));
    }
    try {
      ByteBuffer buffer = ByteBuffer.wrap(encoded);
      int lid = Short.toUnsignedInt(buffer.getShort());
      Mtu mtu = Mtu.ofBytes(Short.toUnsignedInt(buffer.getShort()));
      int remoteReads = Byte.toUnsignedInt(buffer.get());
      if (buffer.get() != 0) {
        throw new IllegalArgumentException("the spare byte is not 0");
      }
      int number = buffer.getInt();
      int sequenceNumber = buffer.getInt();
      Gid gid = new Gid(buffer.getLong(), buffer.getLong());
      return new EndpointAddress(
          new QueuePairAddress(lid, number, sequenceNumber, gid),
          mtu,
          remoteReads,
          buffer.getLong(),
          buffer.getInt(),
          buffer.getLong());
    } catch (IllegalArgumentException wrong) {
      throw new HandshakeException(
          "the peer sent something that is not the address of an endpoint: " + wrong.getMessage(),
          wrong);
    }
  }
}
