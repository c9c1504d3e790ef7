package org.rdma4j.connection.buffers;

import java.lang.foreign.MemorySegment;

/** Memory that the device can access, out of which buffers are made. */
public interface BufferMemory {
  /** Gets memory, which may take long. */
  interface Source {
    /**
     * Registers memory for the device, which peers may read.
     *
     * @throws org.rdma4j.RdmaException if there is none
     */
    BufferMemory register(long bytes);
  }

  /** Returns all of it. */
  MemorySegment segment();

  /** Returns the address under which peers read it. */
  long remoteAddress();

  /** Returns the key with which peers read it. */
  int remoteKey();

  /** Gives it back. */
  void close();
}
