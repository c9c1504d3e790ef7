/**
 * The lifetimes of native objects: which object depends on which, which calls are in progress, and
 * which objects were never closed.
 */
@NullMarked
package org.rdma4j.lifetime;

import org.jspecify.annotations.NullMarked;
