package org.rdma4j.connection;

import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.session.UserMemory;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.internal.VerbsAccess;

/** The memory of users, on which the requests of a session operate: parts of memory regions. */
final class OperationMemory implements UserMemory {
  private final VerbsAccess verbs = VerbsAccess.get();

  @Override
  public @Nullable RuntimeException whyClosed(Object memory) {
    try {
      ((MemorySlice) memory).region().checkOpen();
      return null;
    } catch (IllegalStateException closed) {
      return closed;
    }
  }

  @Override
  public void begin(Object memory) {
    verbs.beginOperation((MemorySlice) memory);
  }

  @Override
  public void end(Object memory) {
    verbs.endOperation((MemorySlice) memory);
  }
}
