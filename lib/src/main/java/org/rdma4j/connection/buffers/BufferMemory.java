package org.rdma4j.connection.buffers;

import java.lang.foreign.MemorySegment;
import org.rdma4j.lifetime.ReusedPieces;

/** Memory that the device can access, out of which buffers are made. */
public interface BufferMemory {
  /** Gets memory, which may take long. */
  interface Source {
    /**
     * Registers memory for the device, which no peer can access.
     *
     * @throws org.rdma4j.RdmaException if there is none
     */
    BufferMemory register(long bytes);

    /**
     * Gets memory of which only the first bytes are registered, until {@link
     * BufferMemory#registerUpTo}.
     *
     * @throws org.rdma4j.RdmaException if there is none
     */
    default BufferMemory reserve(long bytes, long first) {
      return register(bytes);
    }
  }

  /** Returns all of it. */
  MemorySegment segment();

  /** Returns how many of its first bytes are registered. */
  default long registeredBytes() {
    return segment().byteSize();
  }

  /**
   * Registers more of the first bytes, which may take long. Does nothing once it is closed.
   *
   * @throws org.rdma4j.RdmaException if they cannot be registered
   */
  default void registerUpTo(long bytes) {
    throw new AssertionError("all of it is registered");
  }

  /** Sets of which buffers it consists. */
  void consistsOf(ReusedPieces buffers);

  /** Gives it back. */
  void close();
}
