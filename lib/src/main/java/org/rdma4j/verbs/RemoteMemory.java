package org.rdma4j.verbs;

import java.io.Serializable;
import java.nio.ByteBuffer;

/**
 * Names memory of one side of a connection to the other side, which may then read or write it. Send
 * it to the peer in a message, or in any other way. {@link SendRequests} and {@link
 * org.rdma4j.connection.RdmaConnection} check their bounds against it.
 *
 * <p>What it grants depends on where it comes from. {@link
 * org.rdma4j.connection.RdmaConnection#expose} grants the named memory and no more, until it is
 * revoked, and on devices with memory windows only to the peer of that connection. {@link #of}
 * grants the whole region to every peer of the protection domain that knows or guesses the key,
 * until the region is closed; all connections of a node over one device have one domain. {@link
 * #slice} only names a part: it grants as much as what it is a part of.
 *
 * @param address the address of the first byte, as an unsigned number
 * @param key the remote key of the region
 * @param length the length in bytes, not negative
 */
public record RemoteMemory(long address, int key, long length) implements Serializable {
  /** The number of bytes that {@link #write} writes. */
  public static final int BYTES = Long.BYTES + Integer.BYTES + Long.BYTES;

  private static final long serialVersionUID = 1L;

  /**
   * Creates a name from its parts.
   *
   * @throws IllegalArgumentException if the length is negative
   */
  public RemoteMemory {
    if (length < 0) {
      throw new IllegalArgumentException("length is " + length + ", must not be negative");
    }
  }

  /**
   * Returns the name of a whole region, registered with REMOTE_READ, REMOTE_WRITE or REMOTE_ATOMIC.
   *
   * @param region the region
   * @return its name
   */
  public static RemoteMemory of(MemoryRegion region) {
    return new RemoteMemory(region.remoteAddress(), region.remoteKey(), region.byteSize());
  }

  /**
   * Reads a name that {@link #write} wrote: 20 bytes from the position on, which is advanced.
   *
   * @param source the buffer to read from, in any byte order
   * @return the name
   * @throws java.nio.BufferUnderflowException if there are fewer bytes
   * @throws IllegalArgumentException if the bytes contain a negative length
   */
  public static RemoteMemory read(ByteBuffer source) {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES);
    for (int i = 0; i < BYTES; i++) {
      bytes.put(source.get());
    }
    bytes.flip();
    return new RemoteMemory(bytes.getLong(), bytes.getInt(), bytes.getLong());
  }

  /**
   * Writes the address, the key and the length, big-endian: 20 bytes from the position on, which is
   * advanced.
   *
   * @param target the buffer to write to, in any byte order
   * @throws java.nio.BufferOverflowException if there are fewer bytes left
   */
  public void write(ByteBuffer target) {
    target.put(ByteBuffer.allocate(BYTES).putLong(address).putInt(key).putLong(length).flip());
  }

  /**
   * Returns the name of a part of this memory.
   *
   * @param offset the first byte of the part within this memory
   * @param length the length of the part in bytes, may be 0
   * @return the name of the part
   * @throws IndexOutOfBoundsException if the part does not lie within this memory
   */
  public RemoteMemory slice(long offset, long length) {
    return new RemoteMemory(addressOf(offset, length), key, length);
  }

  /** Returns the address of a part, which must lie within this memory. */
  long addressOf(long offset, long length) {
    if ((offset | length) < 0 || length > this.length - offset) {
      throw new IndexOutOfBoundsException(
          "offset "
              + offset
              + " and length "
              + length
              + " are not within the "
              + this.length
              + " bytes of the remote memory");
    }
    return address + offset;
  }
}
