/**
 * What {@code infiniband/efadv.h} declares for EFA devices: C names, C semantics, no safety checks.
 * The package {@code generated} is the output of jextract; {@code libefa.so.1} is loaded at the
 * first call. It has never been tried on a real device: its layouts are compared with the
 * compiler's, other devices are refused, and {@code libefa} was called with a simulated one.
 *
 * {@snippet :
 * if (Efa.isSupported(context)) {
 *   try (Arena arena = Arena.ofConfined()) {
 *     MemorySegment attributes = arena.allocate(efadv_device_attr.layout());
 *     int errno = efa_h.efadv_query_device(context, attributes, (int) attributes.byteSize());
 *   }
 * }
 * }
 */
@NullMarked
package org.rdma4j.bindings.efa;

import org.jspecify.annotations.NullMarked;
