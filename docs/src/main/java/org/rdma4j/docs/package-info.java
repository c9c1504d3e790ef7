/**
 * Keeps the code in the pages of the guide equal to the sources that the tests compile and run.
 * {@code dev/docs --snippets} starts it.
 */
@NullMarked
package org.rdma4j.docs;

import org.jspecify.annotations.NullMarked;
