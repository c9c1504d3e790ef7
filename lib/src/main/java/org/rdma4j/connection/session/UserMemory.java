package org.rdma4j.connection.session;

import org.jspecify.annotations.Nullable;

/**
 * What a session asks about the memory of users. To the session, that is only an object: it does
 * not know the device.
 */
public interface UserMemory {
  /** Returns why this memory cannot be used any more; null if it can. */
  @Nullable RuntimeException whyClosed(Object memory);
}
