/**
 * The programs that measure a network: they use the options, the wire format and the output of the
 * programs of perftest, with which they also work: {@code send-lat} with {@code ib_send_lat},
 * {@code write-bw} with {@code ib_write_bw}, and so on. {@code compare} runs such a program of
 * perftest and ours in turn, and prints the ratios.
 *
 * <p>Read it in this order: {@link org.rdma4j.tools.perftest.SendLat} for the options, {@code
 * Settings} for what they mean together, {@code TestRun} for the steps of a run, {@code Control}
 * and {@code Handshake} for what both sides send each other, {@code Resources} for queues and
 * memory. The loops that are measured are classes of their own: {@code SendPingPong}, {@code
 * WritePingPong}, {@code RequestLoop} for latency, and {@code Sender}, {@code Receiver} and {@code
 * BothWays} for bandwidth. They know nothing of options, exchange and reports.
 */
@NullMarked
package org.rdma4j.tools.perftest;

import org.jspecify.annotations.NullMarked;
