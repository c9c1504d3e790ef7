/**
 * rdma-core's example programs in Java: what they print, what they speak, and how that is written.
 */
@NullMarked
package org.rdma4j.samples;

import org.jspecify.annotations.NullMarked;
