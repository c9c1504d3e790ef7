/**
 * Benchmarks that compare posts and polls through the safe API with the same calls in C. They run
 * on a stand-in device that transfers nothing, so they measure only what a call costs on its way to
 * the device.
 *
 * <p>{@code dev/bench} starts the programs with a {@code main} method: {@link
 * org.rdma4j.bench.Bench} here, and those in {@link org.rdma4j.bench.measuring} and {@link
 * org.rdma4j.bench.reporting}. The packages, each of which uses only those above it:
 *
 * <ul>
 *   <li>{@link org.rdma4j.bench.standin}: a queue pair on the stand-in device, ready to send;
 *   <li>{@link org.rdma4j.bench.loops}: the measured loops, as JMH benchmarks, with their
 *       counterparts in C and over JNI;
 *   <li>{@link org.rdma4j.bench.reporting}: results and tables;
 *   <li>{@link org.rdma4j.bench.measuring}: measurements without JMH: instructions, the longest
 *       calls, safepoints.
 * </ul>
 *
 * <p>{@link org.rdma4j.bench.connections} stands alone: it needs a device.
 */
@NullMarked
package org.rdma4j.bench;

import org.jspecify.annotations.NullMarked;
