/** Measures between two machines what channels over RDMA bring compared with TCP. */
@NullMarked
package org.rdma4j.tools.gain;

import org.jspecify.annotations.NullMarked;
