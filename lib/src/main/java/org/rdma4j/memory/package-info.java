/**
 * Pools of registered memory: {@link org.rdma4j.memory.SlabPool} registers one memory region and
 * lends it in slabs of one size.
 */
@NullMarked
package org.rdma4j.memory;

import org.jspecify.annotations.NullMarked;
