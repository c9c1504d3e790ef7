/** Page-aligned memory outside the Java heap. */
@NullMarked
package org.rdma4j.memory;

import org.jspecify.annotations.NullMarked;
