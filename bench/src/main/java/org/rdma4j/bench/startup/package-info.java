/**
 * Programs that do very little and end: {@code dev/bench start} times the whole JVM, from its start
 * to its exit. They use no other package of the benchmarks.
 */
@NullMarked
package org.rdma4j.bench.startup;

import org.jspecify.annotations.NullMarked;
