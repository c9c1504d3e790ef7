/**
 * The verbs: devices, protection domains, memory regions, completion queues, queue pairs, and the
 * work requests and work completions that pass through them.
 *
 * <h2>Lifetimes</h2>
 *
 * Every object that has a native one is closed by {@code close()}, by any thread, at any moment.
 * Closing an object closes first what depends on it, youngest first: a queue pair depends on its
 * protection domain and its completion queues, and all on the device. Closing is idempotent. Use
 * after it throws {@link java.lang.IllegalStateException}.
 *
 * <h2>Threads</h2>
 *
 * All objects may be used from any thread, except those of the data path: {@link
 * org.rdma4j.verbs.SendRequests}, {@link org.rdma4j.verbs.ReceiveRequests}, {@link
 * org.rdma4j.verbs.TagOperations} and {@link org.rdma4j.verbs.Completions} each belong to the first
 * thread that uses them, until it releases them. Another thread's use throws {@link
 * java.lang.IllegalStateException}. Threads that share a queue pair or a completion queue make one
 * each.
 *
 * <h2>Arguments</h2>
 *
 * They are checked before C sees them: one out of its range throws {@link
 * java.lang.IllegalArgumentException} with the value and the range, and null where it is not said
 * to be allowed {@link java.lang.NullPointerException}. The call then did nothing.
 */
@NullMarked
package org.rdma4j.verbs;

import org.jspecify.annotations.NullMarked;
