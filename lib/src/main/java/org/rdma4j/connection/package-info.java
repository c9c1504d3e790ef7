/**
 * Connections that carry messages, found by IP address and port. Use this package if a channel of
 * messages is what you need, and you do not want to handle queue pairs yourself.
 *
 * <p>Start with {@link org.rdma4j.connection.RdmaServer} and {@link
 * org.rdma4j.connection.RdmaConnection}. A server that sends each message back, and a client:
 *
 * {@snippet :
 * try (var server = RdmaServer.bind(new InetSocketAddress(7471));
 *     var peer = server.accept(timeout)) {
 *   for (var message = peer.receive(timeout);
 *       message.isPresent();
 *       message = peer.receive(timeout)) {
 *     peer.send(message.get(), timeout); // the received buffer itself: nothing is copied
 *   }
 * }
 *
 * try (var connection = RdmaConnection.connect(new InetSocketAddress("192.0.2.1", 7471), timeout)) {
 *   connection.send(StandardCharsets.UTF_8.encode("hello"), timeout);
 *   try (var answer = connection.receive(timeout).orElseThrow()) {
 *     System.out.println(StandardCharsets.UTF_8.decode(answer.byteBuffer()));
 *   }
 * }
 * }
 *
 * <p>What it gives you: whole messages of any length in order, flow control, sending without a
 * copy, waits that are cheap in virtual threads, futures and handlers, requests with answers,
 * streams, a close that waits until everything has arrived, and reads and writes of memory that the
 * peer has named. What it costs you: a header of 16 bytes, a lock and a credit for each message,
 * which a queue pair of {@link org.rdma4j.verbs} does not need. To use a queue pair with the
 * connection manager directly, see {@link org.rdma4j.cm}.
 *
 * <p>The connections of a process share a {@link org.rdma4j.connection.RdmaNode}: its buffers, its
 * shared receive queue, and its completion queues. A connection that is quiet has 2 buffers set
 * aside for what its peer might send.
 *
 * <p>A method throws {@link java.lang.IllegalStateException} if its object, or an object that it is
 * given, is closed. The descriptions mention this only where there is more to say.
 */
@NullMarked
package org.rdma4j.connection;

import org.jspecify.annotations.NullMarked;
