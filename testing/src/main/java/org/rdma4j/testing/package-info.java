/**
 * Ends tests that hang. {@link org.rdma4j.testing.TestWatch} registers itself in every module that
 * has this one on the class path of its tests.
 */
@NullMarked
package org.rdma4j.testing;

import org.jspecify.annotations.NullMarked;
