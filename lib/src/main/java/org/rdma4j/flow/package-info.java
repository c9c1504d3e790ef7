/**
 * Flow steering: rules that send packets that arrive at a port to a queue pair, count them, and
 * encrypt or decrypt them with ESP.
 *
 * <p>Start with {@link org.rdma4j.flow.FlowRule}, which describes packets, and {@link
 * org.rdma4j.flow.Flow#create}, which puts a rule in force. soft-RoCE supports none of this.
 */
@NullMarked
package org.rdma4j.flow;

import org.jspecify.annotations.NullMarked;
