/**
 * The functions of libefa, the provider of the EFA adapters of Amazon's machines, that the verbs
 * use: {@code infiniband/efadv.h}.
 *
 * <p>This package is not exported.
 */
@NullMarked
package org.rdma4j.efa;

import org.jspecify.annotations.NullMarked;
