/**
 * The static inline functions and macros of {@code verbs.h} and {@code rdma_verbs.h}, which no
 * library exports, under their C names and with their C parameters. {@link
 * org.rdma4j.bindings.inlines.Errno} provides errno, which a plain downcall loses.
 *
 * <p>As in C, nothing is checked: a wrong pointer crashes the process.
 *
 * {@snippet :
 * MemorySegment attributes = ibv_port_attr.allocate(arena);
 * int error = Verbs.ibv_query_port(context, (byte) 1, attributes);
 * if (error == 0) {
 *   System.out.println(ibv_port_attr.lid(attributes));
 * }
 * }
 */
@NullMarked
package org.rdma4j.bindings.inlines;

import org.jspecify.annotations.NullMarked;
