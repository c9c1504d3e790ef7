/**
 * A test of an adapter that needs nothing but the jar, with a report that can be sent to the
 * project.
 *
 * <p>Each {@link org.rdma4j.tools.selftest.SelfCheck} is a class of its own, which shows one thing.
 * Most of them exchange data between two queue pairs of the device, {@link
 * org.rdma4j.tools.selftest.LoopedPair}, and compare every byte. {@link
 * org.rdma4j.tools.selftest.CheckRun} runs them one after the other, each with a timeout, and
 * {@link org.rdma4j.tools.selftest.SelfTest} prints the results.
 */
@NullMarked
package org.rdma4j.tools.selftest;

import org.jspecify.annotations.NullMarked;
