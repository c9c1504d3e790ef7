package org.rdma4j.connection;

import org.jspecify.annotations.Nullable;

/**
 * Is notified when an operation is done. One handler can serve any number of operations, which it
 * distinguishes by their tokens: so an operation allocates no memory.
 *
 * <p>A handler runs in a thread that delivers for many connections, unless {@link
 * NodeConfig#handlers} says otherwise. There it must not wait: methods of connections that wait
 * throw an exception there. If it throws an exception, that is logged.
 */
@FunctionalInterface
public interface OperationHandler {
  /**
   * An operation is done.
   *
   * @param token what the program gave to the operation
   * @param failure why it failed; null if it succeeded
   */
  void completed(long token, @Nullable RuntimeException failure);
}
