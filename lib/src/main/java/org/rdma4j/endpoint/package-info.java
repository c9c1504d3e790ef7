/**
 * The quickest start: two connected endpoints that send each other messages, and read and write
 * each other's buffer, with all RDMA resources inside.
 *
 * <p>Start with {@link org.rdma4j.endpoint.Endpoint}. The server receives one message, the client
 * sends it:
 *
 * {@snippet :
 * try (var listener = Endpoint.listen(new InetSocketAddress(7471));
 *     var endpoint = listener.accept(timeout)) {
 *   endpoint.postReceive(1, 0, 64); // id 1: 64 bytes from offset 0 of the buffer
 *   endpoint.await(1, timeout);
 *   System.out.println(endpoint.buffer().segment().getString(0));
 * }
 *
 * try (var endpoint = Endpoint.connect(new InetSocketAddress("server", 7471), timeout)) {
 *   endpoint.buffer().segment().setString(0, "hello");
 *   endpoint.postSend(1, 0, 6);
 *   endpoint.await(1, timeout);
 * }
 * }
 *
 * <p>What it gives you: the device, the port and the GID are chosen ({@link
 * org.rdma4j.endpoint.EndpointConfig} overrides the choice), the two sides find each other over
 * TCP, and any thread can await any request. What it costs you: each endpoint opens the device for
 * itself and has one buffer; an await takes a lock and creates objects, so the loop is slower than
 * one on the queue pair itself; and if no receive is posted, the sender has to wait. For messages
 * with flow control, addressed by IP address alone, see {@link org.rdma4j.connection}; for full
 * control, {@link org.rdma4j.verbs}.
 */
@NullMarked
package org.rdma4j.endpoint;

import org.jspecify.annotations.NullMarked;
