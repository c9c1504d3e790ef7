/**
 * Pools of registered memory: a {@link org.rdma4j.memory.SlabPool} registers one memory region, and
 * lends parts of it, the slabs, which all have the same size.
 *
 * <p>Registering memory takes a system call and pins pages, so a program registers once, and takes
 * a slab for each message. The ticket of a slab can be the id of a request: the completion then
 * names the slab to release.
 *
 * {@snippet :
 * try (SlabPool pool = SlabPool.register(domain, 64, 4096, AccessFlag.LOCAL_WRITE)) {
 *   Slab slab = pool.acquire(timeout);
 *   slab.segment().setString(0, "hello");
 *   queuePair.sendRequests(1).add(slab.ticket()).from(slab.slice().slice(0, 6)).signaled().post();
 *
 *   Completions completions = queue.completions(1);
 *   if (completions.await(timeout) == 1) {
 *     pool.release(completions.workRequestId(0));
 *   }
 * }
 * }
 *
 * <p>A method throws {@link java.lang.IllegalStateException} if its object, or an object that it is
 * given, is closed. The descriptions mention this only where there is more to say.
 */
@NullMarked
package org.rdma4j.memory;

import org.jspecify.annotations.NullMarked;
