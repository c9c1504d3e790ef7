/**
 * How a stream of bytes that began over TCP goes on over RDMA, as a state machine without channel,
 * lock, thread or clock, so that a simulation in memory can drive it.
 *
 * <p>For a TCP connection, its client makes an RDMA connection to the same address and port. On it
 * travel:
 *
 * <ol>
 *   <li>from the server, a {@linkplain Messages#challenge challenge};
 *   <li>from the client, a {@link Claim}: which TCP connection this one belongs to, and a proof
 *       that it knows the bytes that both have exchanged;
 *   <li>from the server, a {@linkplain Messages#grant grant} with its own proof; or it closes the
 *       RDMA connection, which refuses the claim;
 *   <li>then, in each direction, the {@linkplain Messages#offset offset}: the number of bytes that
 *       its sender has written to TCP, and after which it writes no more there. The server sends
 *       its own when it has that of the client;
 *   <li>the bytes behind that offset, in messages of any length but 0;
 *   <li>an empty message, which is the end of this direction. A connection that ends without it was
 *       reset.
 * </ol>
 *
 * <p>TCP carries the bytes of the program and no others, so a peer that knows nothing of this sees
 * plain TCP.
 */
@NullMarked
package org.rdma4j.nio.handover;

import org.jspecify.annotations.NullMarked;
