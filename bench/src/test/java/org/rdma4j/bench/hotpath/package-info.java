/**
 * Tests of what the library promises for its hot path: the methods allocate nothing, C2 inlines the
 * loops, a close under load is safe, and a thread that polls does not delay the collector. They are
 * here because they need the stand-in device, which is fast enough for millions of calls and
 * crashes if a call reaches a destroyed object. Each test starts a JVM of its own, whose main class
 * has the name of the scenario.
 */
@NullMarked
package org.rdma4j.bench.hotpath;

import org.jspecify.annotations.NullMarked;
