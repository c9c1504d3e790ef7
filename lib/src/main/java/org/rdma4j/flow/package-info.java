/**
 * Flow steering: rules that send the packets that arrive at a port to a queue pair, with counters,
 * and encryption by ESP.
 *
 * <p>Start with {@link org.rdma4j.flow.FlowRule}, which describes packets, and {@link
 * org.rdma4j.flow.Flow#create}, which puts a rule in force. Soft-RoCE has none of this.
 */
@NullMarked
package org.rdma4j.flow;

import org.jspecify.annotations.NullMarked;
