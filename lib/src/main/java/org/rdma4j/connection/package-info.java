/**
 * Connections that carry messages, for programs that want a channel and not a queue pair. They are
 * found by IP address and port, by {@link org.rdma4j.cm}.
 *
 * {@snippet :
 * try (var server = RdmaServer.bind(new InetSocketAddress(7471))) {
 *   try (var peer = server.accept(timeout).orElseThrow()) {
 *     for (var message = peer.receive(timeout);
 *         message.isPresent();
 *         message = peer.receive(timeout)) {
 *       peer.send(message.get(), timeout); // back, and without a copy
 *     }
 *   }
 * }
 * try (var connection = RdmaConnection.connect(new InetSocketAddress("192.0.2.1", 7471), timeout)) {
 *   connection.send(StandardCharsets.UTF_8.encode("hello"), timeout);
 *   try (var answer = connection.receive(timeout).orElseThrow()) {
 *     System.out.println(StandardCharsets.UTF_8.decode(answer.byteBuffer()));
 *   }
 * }
 * }
 *
 * <h2>What goes over the wire</h2>
 *
 * The private data of the request and of the acceptance are 16 bytes, big-endian: the number
 * 0x52344a43, the version 1, how many messages the side receives before the sender has to wait, and
 * how long each may be. Then each message is one SEND with an immediate value, whose first four
 * bits say what it is (0 a message, 1 credits alone, 2 the end) and the others how many messages
 * the sender has taken since, which the peer may send more of. Credits go with the next message, or
 * by themselves once they are half of all. The end comes behind all messages.
 */
@NullMarked
package org.rdma4j.connection;

import org.jspecify.annotations.NullMarked;
