/**
 * What the tests of several modules need, without an object of this library. {@link
 * org.rdma4j.testing.TestWatch} ends tests that hang; it registers itself in every module that has
 * this one on the class path of its tests. {@link org.rdma4j.testing.ChildProcess} is a program on
 * this machine, and {@link org.rdma4j.testing.PeerProcess} one in the second guest of a pair.
 */
@NullMarked
package org.rdma4j.testing;

import org.jspecify.annotations.NullMarked;
