package org.rdma4j.connection;

/**
 * Receives the messages of a connection, one after the other, in their order.
 *
 * <p>A handler runs in a thread that delivers for many connections, unless {@link
 * NodeConfig#handlers} says otherwise. There it must not wait: methods of connections that wait
 * throw an exception there. If it throws an exception, its message is closed unless it was sent,
 * and the connection is broken.
 */
@FunctionalInterface
public interface MessageHandler {
  /**
   * A message has arrived.
   *
   * @param message the message, to be closed or sent, now or later, by any thread
   */
  void received(MessageBuffer message);
}
