/**
 * Measurements that JMH cannot make, each a program that {@code dev/bench} starts: the number of
 * instructions of an operation, the times of the longest posts and polls, and the time until all
 * threads reach a safepoint.
 */
@NullMarked
package org.rdma4j.bench.measuring;

import org.jspecify.annotations.NullMarked;
