/**
 * Connections that carry messages, found by IP address and port. Use this package if a channel of
 * messages is what you need, and you do not want to handle queue pairs yourself.
 *
 * <p>Start with {@link org.rdma4j.connection.RdmaServer} and {@link
 * org.rdma4j.connection.RdmaConnection}. A server that sends each message back, and a client:
 *
 * {@snippet :
 * try (var server = RdmaServer.bind(new InetSocketAddress(7471));
 *     var peer = server.accept(timeout).orElseThrow()) {
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
 * <p>What it gives you: whole messages in order, flow control, sending without a copy, timeouts on
 * every call, waits that are cheap in virtual threads, a close that waits until everything has
 * arrived, and reads and writes of memory that the peer has named. What it costs you: each
 * connection has its own queues and buffers, of {@code (receives + 4 + sends) * messageBytes} bytes
 * (see {@link org.rdma4j.connection.ConnectionConfig}), and each message takes a lock, a credit and
 * a receive on the way, which a queue pair of {@link org.rdma4j.verbs} does not need. To use a
 * queue pair with the connection manager directly, see {@link org.rdma4j.cm}.
 *
 * <h2>Wire protocol</h2>
 *
 * <p>The private data of the connection request, and that of the answer, are 16 bytes, big-endian:
 * the number 0x52344a43, the version 1, the number of messages that the side receives before the
 * sender has to wait, and the length of the longest message that it receives.
 *
 * <p>Each message is one SEND with an immediate value. Its first four bits are the kind: 0 for a
 * message, 1 for credits alone, 2 for the end. The other 28 bits are the number of credits that the
 * sender of this message returns: the number of messages it has taken since the last time, and that
 * the peer may send in addition. Credits travel with the next message, or alone once they are half
 * of all. The end comes after all messages.
 */
@NullMarked
package org.rdma4j.connection;

import org.jspecify.annotations.NullMarked;
