/**
 * A cache of keys and values, to show what a connection can do besides messages. Clients get by
 * RDMA read of the server's table, which costs the server's processors nothing. They put by a
 * request, which the server answers.
 *
 * <p>Read {@link org.rdma4j.samples.keyvalue.KeyValueServer}, then {@link
 * org.rdma4j.samples.keyvalue.KeyValueClient}, and {@link org.rdma4j.samples.keyvalue.CacheSlot}
 * for how a client notices that the server is writing what it reads.
 */
@NullMarked
package org.rdma4j.samples.keyvalue;

import org.jspecify.annotations.NullMarked;
