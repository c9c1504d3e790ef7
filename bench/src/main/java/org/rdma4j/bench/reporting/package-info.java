/**
 * What becomes of results: a {@link org.rdma4j.bench.reporting.Row} selects results of JMH, a
 * {@code Comparison} sets Java's times against C's, {@link org.rdma4j.bench.reporting.Tables}
 * prints them, {@link org.rdma4j.bench.reporting.Point}s store them in a file, and {@link
 * org.rdma4j.bench.reporting.Report} draws charts of that file.
 */
@NullMarked
package org.rdma4j.bench.reporting;

import org.jspecify.annotations.NullMarked;
