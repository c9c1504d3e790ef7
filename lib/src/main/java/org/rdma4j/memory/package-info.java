/**
 * Pools of registered memory: a {@link org.rdma4j.memory.SlabPool} registers one memory region, and
 * lends parts of it, the slabs, which all have the same size.
 */
@NullMarked
package org.rdma4j.memory;

import org.jspecify.annotations.NullMarked;
