/**
 * Posts and polls through the safe API and libmlx5, on the simulated adapter, compared with the
 * same loops in C: {@code dev/bench posts}. {@link org.rdma4j.bench.posts.Posts} measures in one
 * JVM, {@link org.rdma4j.bench.posts.PostsTable} prints the results of several.
 *
 * <p>The tests show what the library promises for its hot path: the methods allocate nothing, C2
 * inlines the loops, a close under load is safe, and a thread that polls does not delay the
 * collector. Each starts a JVM of its own on the simulated adapter.
 */
@NullMarked
package org.rdma4j.bench.posts;

import org.jspecify.annotations.NullMarked;
