/**
 * Where to begin: two endpoints that send each other messages, with everything that RDMA needs for
 * that inside. A ping-pong:
 *
 * <pre>{@code
 * public static void main(String[] args) throws Exception {
 *   Duration patience = Duration.ofSeconds(30);
 *   if (args.length == 0) {
 *     try (EndpointListener listener = Endpoint.listen(new InetSocketAddress(7471));
 *         Endpoint endpoint = listener.accept(patience)) {
 *       for (long round = 0; round < 1000; round++) {
 *         endpoint.postReceive(round, 0, 64);
 *         Completion received = endpoint.await(round, patience);
 *         endpoint.postSend(round, 0, received.bytes());
 *         endpoint.await(round, patience);
 *       }
 *     }
 *   } else {
 *     try (Endpoint endpoint = Endpoint.connect(new InetSocketAddress(args[0], 7471), patience)) {
 *       for (long round = 0; round < 1000; round++) {
 *         endpoint.buffer().segment().setString(0, "ping " + round);
 *         endpoint.postReceive(2 * round, 64, 64);
 *         endpoint.postSend(2 * round + 1, 0, 64);
 *         endpoint.await(2 * round + 1, patience);
 *         endpoint.await(2 * round, patience);
 *         System.out.println(endpoint.buffer().segment().getString(64));
 *       }
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>Device, port and GID are chosen; {@link org.rdma4j.endpoint.EndpointConfig} overrides that.
 * The two find each other over TCP, which is closed once they are connected. Whoever wants more
 * control than this package gives builds the same from {@link org.rdma4j.verbs}.
 */
@NullMarked
package org.rdma4j.endpoint;

import org.jspecify.annotations.NullMarked;
