package org.rdma4j.connection;

/**
 * Answers the requests of a peer.
 *
 * <p>A handler runs in a thread that delivers for many connections, unless {@link
 * NodeConfig#handlers} says otherwise. There it must not wait: methods of connections that wait
 * throw an exception there. To do what takes time, it starts another thread, which answers later.
 * If it throws an exception, the request is refused with the message of the exception.
 */
@FunctionalInterface
public interface RequestHandler {
  /**
   * A request has arrived.
   *
   * @param request the request, to be answered, now or later, by any thread
   */
  void received(IncomingRequest request);
}
