/**
 * Programs to learn from, in one runnable jar: {@link org.rdma4j.samples.Samples} starts the
 * program that the first argument names. The package {@code first} has programs of one file each,
 * with a plain {@code main}. The others are small applications:
 *
 * <ul>
 *   <li>{@link org.rdma4j.samples.endpoint}: endpoints, remote reads and writes
 *   <li>{@link org.rdma4j.samples.rcopy}: copy a file
 *   <li>{@link org.rdma4j.samples.keyvalue}: a cache of keys and values, read by RDMA
 *   <li>{@link org.rdma4j.samples.loops}: a server with an event loop for each processor
 * </ul>
 */
@NullMarked
package org.rdma4j.samples;

import org.jspecify.annotations.NullMarked;
