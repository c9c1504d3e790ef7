package org.rdma4j.connection.session;

import org.jspecify.annotations.Nullable;

/**
 * What a session asks about the memory of users. To the session, that is only an object: it does
 * not know the device.
 */
public interface UserMemory {
  /** Returns why this memory cannot be used any more; null if it can. */
  @Nullable RuntimeException whyClosed(Object memory);

  /**
   * A request that uses this memory was added: the memory must not be used otherwise until {@link
   * #end}.
   *
   * @throws IllegalStateException if no user holds the memory
   */
  void begin(Object memory);

  /** Neither the device nor the peer uses this memory any more for a request. */
  void end(Object memory);
}
