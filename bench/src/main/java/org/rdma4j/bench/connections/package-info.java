/**
 * Measures connections, and channels that go over to RDMA, on a real device, beside the C programs
 * of perftest and beside our own raw verbs. {@code dev/bench connection} starts {@link
 * org.rdma4j.bench.connections.Connections}.
 */
@NullMarked
package org.rdma4j.bench.connections;

import org.jspecify.annotations.NullMarked;
