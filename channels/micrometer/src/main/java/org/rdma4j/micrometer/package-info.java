/**
 * The counters of nodes, connections and channels as meters of Micrometer.
 *
 * {@snippet :
 * try (RdmaNode node = RdmaNode.open();
 *     RdmaMeters meters = RdmaMeters.of(node)) {
 *   meters.bindTo(registry);
 *   if (SelectorProvider.provider() instanceof RdmaSelectorProvider provider) {
 *     new ChannelMeters(provider).bindTo(registry);
 *   }
 *   RdmaConnection connection = node.connect(new InetSocketAddress("192.0.2.1", 7471), timeout);
 *   RdmaMeters.of(connection, "peer", "orders").bindTo(registry);
 * }
 * }
 *
 * <p>A registry asks for the figures when it publishes them, so meters cost nothing in between. It
 * does not keep alive what it measures: once a node or connection is collected, its gauges have no
 * value any more, and its counters keep the last one. {@link
 * org.rdma4j.micrometer.RdmaMeters#close} removes meters, and so does the end of a connection.
 *
 * <p>If several nodes or connections share a registry, tags must distinguish them, with the same
 * keys for all. As everywhere in Micrometer, of two meters with the same name and tags the first
 * one stays.
 */
@NullMarked
package org.rdma4j.micrometer;

import org.jspecify.annotations.NullMarked;
