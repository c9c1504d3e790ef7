/**
 * Two processes that connect queue pairs over TCP. Read {@link
 * org.rdma4j.samples.endpoint.Endpoint} first: it is one end of a connection, with a buffer,
 * requests that have ids, and a poll for the completion of an id. {@link
 * org.rdma4j.samples.endpoint.ReadWriteDemo} uses it.
 */
@NullMarked
package org.rdma4j.samples.endpoint;

import org.jspecify.annotations.NullMarked;
