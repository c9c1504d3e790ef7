/**
 * Programs that use the library, in one runnable jar: {@link org.rdma4j.samples.Main} starts the
 * one that the first argument names.
 *
 * <p>To learn RDMA, read the package {@code first}: seven programs of one file each, with a plain
 * {@code main}. The other packages contain complete tools with options, most of which talk to the
 * program of the same name in C:
 *
 * <ul>
 *   <li>{@link org.rdma4j.samples.devices}: list and watch devices
 *   <li>{@link org.rdma4j.samples.doctor}: find out why RDMA does not work
 *   <li>{@link org.rdma4j.samples.pingpong}: queue pairs that are connected by hand
 *   <li>{@link org.rdma4j.samples.cm}: the connection manager
 *   <li>{@link org.rdma4j.samples.messages}: endpoints, connections that carry messages, remote
 *       reads and writes, shared receive queues
 *   <li>{@link org.rdma4j.samples.rcopy}: copy a file
 *   <li>{@link org.rdma4j.samples.keyvalue}: a cache of keys and values, read by RDMA
 *   <li>{@link org.rdma4j.samples.command}: what they share
 * </ul>
 */
@NullMarked
package org.rdma4j.samples;

import org.jspecify.annotations.NullMarked;
