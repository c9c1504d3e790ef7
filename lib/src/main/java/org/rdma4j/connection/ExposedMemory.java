package org.rdma4j.connection;

import org.rdma4j.RdmaException;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.RemoteMemory;

/**
 * Memory that is exposed to peers until this is closed. {@link RdmaConnection#expose} creates it.
 */
public final class ExposedMemory implements AutoCloseable {
  private final MemoryRegion region;
  private final RemoteMemory name;

  ExposedMemory(MemoryRegion region) {
    this.region = region;
    this.name = RemoteMemory.of(region);
  }

  /**
   * Returns what the peer needs to use the memory.
   *
   * @return the name of exactly this memory
   */
  public RemoteMemory name() {
    return name;
  }

  /**
   * Revokes the access of peers. When this returns, none accesses the memory any more: what a peer
   * still reads or writes fails, and breaks its connection. Does nothing if this is closed.
   *
   * @throws RdmaException if the access cannot be revoked
   */
  @Override
  public void close() {
    region.close();
  }
}
