package org.rdma4j.connection;

import java.lang.foreign.MemorySegment;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.BufferMemory;
import org.rdma4j.lifetime.ReusedPieces;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.internal.VerbsAccess;

/** The memory of buffers: a memory region, which peers may read. */
record BufferRegion(MemoryRegion region) implements BufferMemory {
  /** Registers memory. */
  static BufferRegion register(ProtectionDomain domain, long bytes) {
    return new BufferRegion(domain.register(bytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ));
  }

  /** Returns the memory region of a buffer. */
  static MemoryRegion of(Buffer buffer) {
    return ((BufferRegion) buffer.memory()).region;
  }

  /** Returns a part of the bytes after the header of a buffer, for requests of users. */
  static MemorySlice slice(Buffer buffer, long offset, long bytes) {
    return of(buffer).slice(buffer.start() + offset, bytes);
  }

  @Override
  public MemorySegment segment() {
    return region.segment();
  }

  @Override
  public long remoteAddress() {
    return region.remoteAddress();
  }

  @Override
  public int remoteKey() {
    return region.remoteKey();
  }

  @Override
  public void consistsOf(ReusedPieces buffers) {
    VerbsAccess.get().setPieces(region, buffers);
  }

  @Override
  public void close() {
    region.close();
  }
}
