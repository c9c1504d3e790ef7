package org.rdma4j.connection.buffers;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.rdma4j.lifetime.ReusedPieces;

/** Memory for buffers that no device knows. */
public record PlainMemory(MemorySegment segment) implements BufferMemory {
  /** Returns memory that the garbage collector frees. */
  public static PlainMemory of(long bytes) {
    return new PlainMemory(Arena.ofAuto().allocate(bytes, 64));
  }

  @Override
  public void consistsOf(ReusedPieces buffers) {}

  @Override
  public void close() {}
}
