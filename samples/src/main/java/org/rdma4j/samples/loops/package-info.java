/**
 * A server with one event loop for each processor, as {@code LoopServer} explains: one port for all
 * loops, no lock, no change of threads between the device and a handler.
 *
 * <ul>
 *   <li>{@code LoopServer} gives each peer to a loop, and ends without losing a request
 *   <li>{@code Worker} is a loop: a node that its thread drives, the connections that belong to it,
 *       a timer, and what it does with peers that are too slow
 *   <li>{@code LoopClient} asks, and listens to what the server publishes
 * </ul>
 */
@NullMarked
package org.rdma4j.samples.loops;

import org.jspecify.annotations.NullMarked;
