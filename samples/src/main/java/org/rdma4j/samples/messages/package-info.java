/**
 * Programs that exchange messages and use remote memory, each written with another part of the
 * library. Both sides run the same program; none of them is meant to work with a program in C.
 *
 * <ul>
 *   <li>{@link org.rdma4j.samples.messages.EndpointPingPong}: the shortest one, with an endpoint
 *       that chooses device, port and GID. Read it first.
 *   <li>{@link org.rdma4j.samples.messages.ConnectionPingPong}: a connection that carries messages
 *   <li>{@link org.rdma4j.samples.messages.ReadWriteDemo}: remote reads and writes, by hand
 *   <li>{@link org.rdma4j.samples.messages.RcExample}: a send, a read and a write with every object
 *       created by the program, after an example in NVIDIA's RDMA Aware Networks Programming User
 *       Manual
 *   <li>{@link org.rdma4j.samples.messages.Srq}: two connections with a shared receive queue, after
 *       another example there
 * </ul>
 */
@NullMarked
package org.rdma4j.samples.messages;

import org.jspecify.annotations.NullMarked;
