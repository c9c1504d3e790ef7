/**
 * The connection manager of rdma-core, librdmacm: connections are made by IP address and port, as
 * with sockets, and without any other way for the two sides to tell each other their queue pairs.
 *
 * <h2>A client and a server</h2>
 *
 * {@snippet :
 * // import java.net.InetSocketAddress;
 * try (var client = SynchronousCmId.open(PortSpace.TCP)) {
 *   client.resolveAddress(new InetSocketAddress("192.0.2.1", 7471), timeout);
 *   client.resolveRoute(timeout);
 *   var device = client.id().device();
 *   var queue = device.createCompletionQueue(16);
 *   var domain = device.allocateProtectionDomain();
 *   var queuePair = client.id().createQueuePair(domain, QueuePairConfig.reliable(queue));
 *   client.connect(ConnectionParameters.DEFAULT, timeout);
 * }
 * try (var server = SynchronousCmId.open(PortSpace.TCP)) {
 *   server.id().bind(new InetSocketAddress(7471));
 *   server.id().listen(10);
 *   var peer = server.awaitRequest(timeout).orElseThrow();
 *   // its queue pair is made like the client's
 *   peer.accept(ConnectionParameters.DEFAULT, timeout);
 * }
 * }
 *
 * <p>{@link org.rdma4j.cm.SynchronousCmId} waits for what each step leads to. A program that serves
 * many connections makes an {@link org.rdma4j.cm.EventChannel} instead, and steps each {@link
 * org.rdma4j.cm.CmId} of it on when its {@link org.rdma4j.cm.CmEvent} comes.
 *
 * <h2>Events</h2>
 *
 * All of an event is copied, and it is acknowledged, before it is handed out. So an event is
 * acknowledged exactly once whatever becomes of it, its data can be read at any time, and closing
 * an identifier never waits for an event.
 *
 * <h2>Lifetimes</h2>
 *
 * An identifier depends on its channel, and its queue pair on the identifier, beside its domain and
 * its completion queues: closing one closes those that depend on it first. The devices belong to
 * librdmacm, which opens each once: all identifiers of a device share one {@link
 * org.rdma4j.verbs.RdmaDevice}, and closing that closes what was made of it, not the native device.
 *
 * <h2>Threads</h2>
 *
 * All methods may be called from any thread. Calls on the identifiers of one channel go into C one
 * at a time, as does the reading of its events; none of these waits for the network.
 */
@NullMarked
package org.rdma4j.cm;

import org.jspecify.annotations.NullMarked;
