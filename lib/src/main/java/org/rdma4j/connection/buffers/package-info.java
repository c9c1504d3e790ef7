/**
 * The buffers that the connections over one device share: to send from, and to receive into; and
 * the receives that are promised to peers.
 */
@NullMarked
package org.rdma4j.connection.buffers;

import org.jspecify.annotations.NullMarked;
