/**
 * Flow steering: rules that send packets that arrive at a port to a queue pair, count them, and
 * encrypt or decrypt them with ESP.
 *
 * <p>Start with {@link org.rdma4j.flow.FlowRule}, which describes packets, and {@link
 * org.rdma4j.flow.Flow#create}, which puts a rule in force. soft-RoCE supports none of this.
 *
 * <p>All packets to one UDP port arrive at a queue pair for raw packets:
 *
 * {@snippet :
 * var port = new FlowSpecification.Ports(4791, 0);
 * var mask = new FlowSpecification.Ports(0xffff, 0); // compare the destination only
 * FlowRule rule = FlowRule.of(1, new FlowSpecification.Udp(port, mask));
 * try (Flow flow = Flow.create(queuePair, rule)) {
 *   // the queue pair receives the packets until the flow is closed
 * }
 * }
 *
 * <p>A method throws {@link java.lang.IllegalStateException} if its object, or an object that it is
 * given, is closed. The descriptions mention this only where there is more to say.
 */
@NullMarked
package org.rdma4j.flow;

import org.jspecify.annotations.NullMarked;
