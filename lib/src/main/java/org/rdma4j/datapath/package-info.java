/**
 * The data path: how requests and completions lie in native memory, and how they are posted and
 * polled.
 *
 * <p>{@link org.rdma4j.datapath.HotCall} is the way into C: it checks that the calling thread owns
 * the queue's batch, and lets a close wait for a call in progress. {@link
 * org.rdma4j.datapath.RequestChain} is a batch of work requests that one call posts. {@link
 * org.rdma4j.datapath.ExtendedQueuePair} posts it by {@code ibv_wr_*}, and {@link
 * org.rdma4j.datapath.ExtendedPolling} polls an extended completion queue. The classes know the
 * structs of C, but no object that users hold.
 */
@NullMarked
package org.rdma4j.datapath;

import org.jspecify.annotations.NullMarked;
