/**
 * How long native objects live: who depends on whom, who is inside a call, and what was never
 * closed.
 */
@NullMarked
package org.rdma4j.lifetime;

import org.jspecify.annotations.NullMarked;
