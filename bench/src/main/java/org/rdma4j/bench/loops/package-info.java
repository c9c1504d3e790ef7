/**
 * The measured loops: one JMH benchmark for each operation, a subclass of {@link
 * org.rdma4j.bench.loops.AgainstC}, which runs the same loop in C ({@code loops.c}) after each
 * iteration. {@link org.rdma4j.bench.loops.JniPostAndPoll} is the counterpart over JNI. A new
 * operation needs a class here, a function in {@code loops.c} and a row in {@code reporting.Row}.
 */
@NullMarked
package org.rdma4j.bench.loops;

import org.jspecify.annotations.NullMarked;
