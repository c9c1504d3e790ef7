/**
 * What the connection manager needs of the verbs, and nobody else is to have. This package is not
 * exported.
 */
@NullMarked
package org.rdma4j.verbs.internal;

import org.jspecify.annotations.NullMarked;
