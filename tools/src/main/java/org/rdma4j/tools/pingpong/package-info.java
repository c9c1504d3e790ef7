/**
 * The ping-pong programs: two processes exchange the addresses of their queue pairs over TCP,
 * connect the queue pairs themselves, and then send a message back and forth. They use the options,
 * the wire format and the output of the programs of the same names in libibverbs, with which they
 * also work: {@code rc-pingpong} with {@code ibv_rc_pingpong}, {@code uc-pingpong} with {@code
 * ibv_uc_pingpong}, {@code ud-pingpong} with {@code ibv_ud_pingpong}, {@code srq-pingpong} with
 * {@code ibv_srq_pingpong}.
 *
 * <p>All four share one implementation. Read it in this order: {@link
 * org.rdma4j.tools.pingpong.RcPingPongProgram} for the options, {@code PingPongRun} for the steps
 * of a run, {@code PingPongExchange} for the exchange of addresses, {@code PingPong} and {@code
 * PingPongQueuePair} for the memory, the queues and the loop. For the same thing in one file, with
 * comments that teach, see the package {@code first}.
 */
@NullMarked
package org.rdma4j.tools.pingpong;

import org.jspecify.annotations.NullMarked;
