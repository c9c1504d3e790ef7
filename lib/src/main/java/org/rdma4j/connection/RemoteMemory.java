package org.rdma4j.connection;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.rdma4j.verbs.MemorySlice;

/**
 * A token that names memory of one side of a connection to the other, which may then read or write
 * it: as far as the region's access flags allow, and until the region is closed. It is to be sent
 * to the peer, in a message or by any other way; it is of no use to anybody else.
 *
 * @param address the address of the first byte, to be read as unsigned
 * @param key the remote key of the region
 * @param length how many bytes, not negative
 */
public record RemoteMemory(long address, int key, long length) implements Serializable {
  /** How many bytes {@link #write} takes. */
  public static final int BYTES = Long.BYTES + Integer.BYTES + Long.BYTES;

  private static final long serialVersionUID = 1L;

  /**
   * Checks the length.
   *
   * @throws IllegalArgumentException where it is negative
   */
  public RemoteMemory {
    if (length < 0) {
      throw new IllegalArgumentException("length is " + length + ", must not be negative");
    }
  }

  /**
   * Names a part of a region, which has to be registered with REMOTE_READ or REMOTE_WRITE.
   *
   * @param memory the part
   * @return the token
   * @throws IllegalStateException where the region is closed
   */
  public static RemoteMemory of(MemorySlice memory) {
    return new RemoteMemory(memory.remoteAddress(), memory.region().remoteKey(), memory.length());
  }

  /**
   * Reads a token.
   *
   * @param source where {@link #write} wrote it, 20 bytes from the position on, which is advanced
   * @return the token
   * @throws java.nio.BufferUnderflowException where there are fewer bytes
   * @throws IllegalArgumentException where the length among them is negative
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
   * Writes the token: address, key and length, big-endian.
   *
   * @param target where to, 20 bytes from the position on, which is advanced
   * @throws java.nio.BufferOverflowException where there is less room
   */
  public void write(ByteBuffer target) {
    target.put(ByteBuffer.allocate(BYTES).putLong(address).putInt(key).putLong(length).flip());
  }

  /**
   * A part of this memory.
   *
   * @param offset its first byte within this
   * @param length its length in bytes, may be 0
   * @return the token of the part
   * @throws IndexOutOfBoundsException where it does not lie within this
   */
  public RemoteMemory slice(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, this.length);
    return new RemoteMemory(address + offset, key, length);
  }
}
