/**
 * Benchmarks. {@code dev/bench} starts the programs with a {@code main} method:
 *
 * <ul>
 *   <li>{@link org.rdma4j.bench.posts}: posts and polls compared with C, on the simulated adapter;
 *   <li>{@link org.rdma4j.bench.connections}: connections and channels, on a device.
 * </ul>
 */
@NullMarked
package org.rdma4j.bench;

import org.jspecify.annotations.NullMarked;
