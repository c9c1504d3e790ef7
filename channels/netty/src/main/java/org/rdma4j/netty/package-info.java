/**
 * A transport of Netty 4.2 over RDMA: an event loop drives a node, and polls the device itself.
 *
 * <p>{@link org.rdma4j.netty.RdmaIoHandler#newFactory()} makes event loops, {@link
 * org.rdma4j.netty.RdmaServerSocketChannel} accepts and {@link org.rdma4j.netty.RdmaSocketChannel}
 * connects. Both ends need RDMA; there is no way back to TCP, which {@code org.rdma4j.nio} has.
 *
 * {@snippet :
 * var loops = new MultiThreadIoEventLoopGroup(RdmaIoHandler.newFactory());
 * new ServerBootstrap()
 *     .group(loops)
 *     .channel(RdmaServerSocketChannel.class)
 *     .childHandler(handler)
 *     .bind(7471);
 * }
 *
 * <p>What is received stays in the memory where it has arrived, and goes back when it is released.
 * It is copied if it is shorter than 1 KiB, or if a program keeps so many buffers that the peer
 * could not go on otherwise: half of {@link org.rdma4j.connection.NodeConfig#receives} of a
 * channel, or a quarter of {@link org.rdma4j.connection.NodeConfig#maxBuffers} of an event loop.
 *
 * <p>What is written is copied once, into registered memory, unless it is there already: in a
 * buffer of {@link org.rdma4j.netty.RdmaSocketChannel#registeredBuffer}, or as it was received. A
 * promise of a write is completed when the bytes are in flight, as with other transports.
 *
 * <p>A null argument throws a NullPointerException.
 */
@NullMarked
package org.rdma4j.netty;

import org.jspecify.annotations.NullMarked;
