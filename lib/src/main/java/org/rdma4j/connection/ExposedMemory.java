package org.rdma4j.connection;

import org.rdma4j.RdmaException;
import org.rdma4j.connection.session.Exposure;
import org.rdma4j.verbs.RemoteMemory;

/**
 * Memory that is exposed to a peer until this is closed, or the connection. {@link
 * RdmaConnection#expose} creates it.
 */
public final class ExposedMemory implements AutoCloseable {
  private final Exposure exposure;
  private final RemoteMemory name;

  ExposedMemory(Exposure exposure, long bytes) {
    this.exposure = exposure;
    this.name = new RemoteMemory(exposure.address(), exposure.key(), bytes);
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
   * Revokes the access of the peer. When this returns, it accesses the memory no more: what it
   * still reads or writes fails, and breaks its connection. Does nothing if this is closed.
   *
   * @throws RdmaException if the access cannot be revoked
   */
  @Override
  public void close() {
    exposure.end();
  }
}
