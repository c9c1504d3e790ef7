/**
 * The connection manager of rdma-core, librdmacm. It connects two queue pairs by IP address and
 * port, as sockets are connected: the two sides need no other way to exchange the addresses of
 * their queue pairs.
 *
 * <h2>Where to start</h2>
 *
 * <ul>
 *   <li>{@link org.rdma4j.cm.SynchronousCmId} is the simplest class: each step waits for its
 *       outcome. Use it for a few connections, or with a virtual thread for each.
 *   <li>{@link org.rdma4j.cm.EventChannel} serves many connections from one thread: each step of a
 *       {@link org.rdma4j.cm.CmId} returns immediately, and a {@link org.rdma4j.cm.CmEvent} reports
 *       its outcome.
 *   <li>{@link org.rdma4j.cm.ChannelSet} lets a thread wait for these events and for completions.
 *   <li>{@link org.rdma4j.cm.SimpleMessages} sends, receives, reads and writes over a connected
 *       identifier, one request at a time.
 *   <li>{@code org.rdma4j.connection} is built on this package and hides queue pairs and completion
 *       queues behind a channel for messages.
 * </ul>
 *
 * <h2>The steps</h2>
 *
 * A client
 *
 * <ol>
 *   <li>resolves the server's address, which chooses a device,
 *   <li>resolves the route,
 *   <li>creates a queue pair and posts receives,
 *   <li>connects,
 *   <li>exchanges messages, and disconnects.
 * </ol>
 *
 * A server
 *
 * <ol>
 *   <li>binds an identifier to an address and listens,
 *   <li>waits for a request, which comes with an identifier of its own,
 *   <li>creates the queue pair of that identifier and posts receives,
 *   <li>accepts, or rejects,
 *   <li>exchanges messages until the client disconnects.
 * </ol>
 *
 * {@snippet :
 * // The client.
 * try (var client = SynchronousCmId.open(PortSpace.TCP)) {
 *   client.resolveAddress(new InetSocketAddress("192.0.2.1", 7471), timeout);
 *   client.resolveRoute(timeout);
 *   try (var messages = SimpleMessages.create(client.id(), 1, 1)) { // with a queue pair
 *     client.connect(ConnectionConfig.DEFAULT, timeout);
 *     var hello = messages.registerMessages(5);
 *     hello.segment().copyFrom(MemorySegment.ofArray("hello".getBytes(US_ASCII)));
 *     messages.postSend(1, hello.slice(0, 5));
 *     messages.awaitSend(timeout).orElseThrow();
 *     client.disconnect(timeout);
 *   }
 * }
 *
 * // The server.
 * try (var listener = SynchronousCmId.open(PortSpace.TCP)) {
 *   listener.id().bind(new InetSocketAddress(7471));
 *   listener.id().listen(10);
 *   try (var peer = listener.awaitRequest(timeout).orElseThrow();
 *       var messages = SimpleMessages.create(peer.id(), 1, 1)) {
 *     var buffer = messages.registerMessages(64);
 *     messages.postReceive(1, buffer.slice(0, 64)); // before the client can send
 *     peer.accept(ConnectionConfig.DEFAULT, timeout);
 *     var received = messages.awaitReceive(timeout).orElseThrow();
 *     System.out.println(received.bytes() + " bytes");
 *     peer.awaitDisconnected(timeout);
 *     peer.disconnect(timeout);
 *   }
 * }
 * }
 *
 * <p>A program that needs more than {@code SimpleMessages} offers creates the queue pair from its
 * own protection domain and completion queues, with {@link org.rdma4j.cm.CmId#device()} and {@link
 * org.rdma4j.cm.CmId#createQueuePair}.
 *
 * <h2>Events</h2>
 *
 * An event is copied completely and acknowledged before the program gets it. So it is acknowledged
 * exactly once, its data can be read at any time, and closing an identifier never waits for an
 * event.
 *
 * <h2>Lifetimes</h2>
 *
 * An identifier depends on its channel. Its queue pair depends on the identifier, the protection
 * domain and the completion queues. Closing an object first closes the objects that depend on it.
 * The devices belong to librdmacm, which opens each of them once: all identifiers of a device share
 * one {@link org.rdma4j.verbs.RdmaDevice}. Closing that object closes everything that was created
 * from it, but not the native device.
 *
 * <p>A method throws {@link java.lang.IllegalStateException} if its object, or an object that it is
 * given, is closed. The descriptions mention this only where there is more to say.
 *
 * <h2>Threads</h2>
 *
 * All methods may be called from any thread. Calls on the identifiers of one channel, and the
 * reading of its events, enter C one at a time; none of them waits for the network.
 */
@NullMarked
package org.rdma4j.cm;

import org.jspecify.annotations.NullMarked;
