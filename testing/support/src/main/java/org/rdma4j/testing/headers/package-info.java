/**
 * Compares what jextract generates with what a C compiler says about the headers on this machine.
 * The tests of the bindings use it; they run in the directory of their module, whose folder {@code
 * jextract} has the headers that jextract reads and the filters of what it generates.
 */
@NullMarked
package org.rdma4j.testing.headers;

import org.jspecify.annotations.NullMarked;
