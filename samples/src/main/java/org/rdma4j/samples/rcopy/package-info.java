/**
 * {@code rcopy}: copies a file to another machine over a connection that carries messages. It has
 * the task and the name of a program of librdmacm, but does not work with it: C's {@code rcopy}
 * uses rsockets.
 *
 * <p>Read {@link org.rdma4j.samples.rcopy.Rcopy} first, which describes the protocol, then {@code
 * FileSender} and {@code FileReceiver}, its two sides.
 */
@NullMarked
package org.rdma4j.samples.rcopy;

import org.jspecify.annotations.NullMarked;
