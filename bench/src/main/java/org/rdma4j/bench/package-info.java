/**
 * What a post and a poll cost, against the same in C: on a stand-in device, so that only the way
 * there is measured.
 */
@NullMarked
package org.rdma4j.bench;

import org.jspecify.annotations.NullMarked;
