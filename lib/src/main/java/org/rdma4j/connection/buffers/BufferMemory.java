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
  }

  /** Returns all of it. */
  MemorySegment segment();

  /** Sets of which buffers it consists. */
  void consistsOf(ReusedPieces buffers);

  /** Gives it back. */
  void close();
}
