/**
 * What the headers of rdma-core define themselves and no library exports: the static inline
 * functions and the macros of {@code verbs.h}, under their C names. Also errno, which a C caller
 * has and a plain downcall loses.
 *
 * <p>As in C, nothing is checked here: a wrong pointer ends the process.
 */
@NullMarked
package org.rdma4j.bindings.inlines;

import org.jspecify.annotations.NullMarked;
