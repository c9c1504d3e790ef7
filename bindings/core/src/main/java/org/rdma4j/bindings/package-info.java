/**
 * What the bindings need before they can call C: the shared libraries, and the JVM's permission.
 *
 * <p>A program that calls C itself uses {@link org.rdma4j.bindings.generated.rdma_h} for exported
 * functions, and {@link org.rdma4j.bindings.inlines} for functions that the headers define inline:
 *
 * {@snippet :
 * try (Arena arena = Arena.ofConfined()) {
 *   MemorySegment number = arena.allocate(ValueLayout.JAVA_INT);
 *   MemorySegment list = rdma_h.ibv_get_device_list(number);
 *   int devices = number.get(ValueLayout.JAVA_INT, 0);
 *   for (int i = 0; i < devices; i++) {
 *     MemorySegment device = list.reinterpret(8L * devices).getAtIndex(ValueLayout.ADDRESS, i);
 *     System.out.println(rdma_h.ibv_get_device_name(device).getString(0));
 *   }
 *   rdma_h.ibv_free_device_list(list);
 * }
 * }
 */
@NullMarked
package org.rdma4j.bindings;

import org.jspecify.annotations.NullMarked;
