/**
 * Posts and polls of a real provider, libmlx5, on the simulated adapter: {@code dev/bench posts
 * --mlx5}. {@link org.rdma4j.bench.provider.ProviderPosts} measures in one JVM, {@link
 * org.rdma4j.bench.provider.ProviderTable} prints the results of several.
 */
@NullMarked
package org.rdma4j.bench.provider;

import org.jspecify.annotations.NullMarked;
