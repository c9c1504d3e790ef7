package org.rdma4j.connection.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.rdma4j.connection.buffers.BufferMemory;
import org.rdma4j.lifetime.ReusedPieces;

/** Memory of a simulated host of which the device can access only the first bytes. */
final class GrowingMemory implements BufferMemory {
  private final MemorySegment segment;
  private final Host host;
  private long registered;

  GrowingMemory(MemorySegment segment, long registered, Host host) {
    this.segment = segment;
    this.registered = registered;
    this.host = host;
  }

  @Override
  public MemorySegment segment() {
    return segment;
  }

  @Override
  public long registeredBytes() {
    return registered;
  }

  @Override
  public void registerUpTo(long bytes) {
    host.checkMemory();
    assertThat(bytes).isBetween(registered + 1, segment.byteSize());
    registered = bytes;
  }

  @Override
  public void consistsOf(ReusedPieces buffers) {}

  @Override
  public void close() {}
}
