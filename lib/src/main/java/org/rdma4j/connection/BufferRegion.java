package org.rdma4j.connection;

import java.lang.foreign.MemorySegment;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.BufferMemory;
import org.rdma4j.lifetime.ReusedPieces;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.internal.VerbsAccess;

/**
 * The memory of buffers: a memory region, which no peer can access, because all connections use it.
 */
class BufferRegion implements BufferMemory {
  private final MemorySegment segment;
  private volatile MemoryRegion region;

  BufferRegion(MemoryRegion region) {
    this(region.segment(), region);
  }

  /** Creates the memory of buffers of which a region has the first bytes. */
  BufferRegion(MemorySegment segment, MemoryRegion region) {
    this.segment = segment;
    this.region = region;
  }

  /** Registers memory. */
  static BufferRegion register(Exposures exposures, long bytes) {
    return new BufferRegion(register(exposures, MemoryRegionConfig.allocate(bytes)));
  }

  static MemoryRegion register(Exposures exposures, MemoryRegionConfig config) {
    return exposures.register(config, AccessFlag.LOCAL_WRITE);
  }

  /** Returns the memory region of a buffer. */
  static MemoryRegion of(Buffer buffer) {
    return ((BufferRegion) buffer.memory()).region;
  }

  /** Returns the message in a buffer, without its header. */
  static MemorySlice message(Buffer buffer) {
    return of(buffer).slice(buffer.payload(), buffer.length());
  }

  /** Returns a part of the bytes after the header of a buffer, for requests of users. */
  static MemorySlice slice(Buffer buffer, long offset, long bytes) {
    return of(buffer).slice(buffer.start() + offset, bytes);
  }

  /** Sets the region that has more of the first bytes than the one before. */
  final void region(MemoryRegion longer) {
    region = longer;
  }

  @Override
  public final MemorySegment segment() {
    return segment;
  }

  @Override
  public final long registeredBytes() {
    return region.byteSize();
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
