/**
 * The protocol of a connection, as a state machine without lock, thread, clock and device: see
 * {@link org.rdma4j.connection.session.Session}.
 */
@NullMarked
package org.rdma4j.connection.session;

import org.jspecify.annotations.NullMarked;
