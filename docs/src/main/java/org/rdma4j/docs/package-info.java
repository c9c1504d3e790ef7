/**
 * Builds the HTML site from the Markdown pages of this project, and keeps the code in them equal to
 * the sources that the tests compile and run. {@code dev/docs} starts it.
 */
@NullMarked
package org.rdma4j.docs;

import org.jspecify.annotations.NullMarked;
