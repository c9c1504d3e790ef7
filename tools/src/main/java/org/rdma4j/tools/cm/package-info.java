/**
 * Programs that find their peer by its IP address with the connection manager, librdmacm. They use
 * the options, the wire format and the output of the programs of the same names in librdmacm, with
 * which they also work: {@code rdma-client} and {@code rdma-server} with {@code rdma_client} and
 * {@code rdma_server}, {@code rping}, {@code ucmatose}, {@code udaddy}, {@code mckey} and {@code
 * cmtime} with their namesakes.
 *
 * <p>Read them in this order:
 *
 * <ul>
 *   <li>{@link org.rdma4j.tools.cm.RdmaClientProgram} and {@link
 *       org.rdma4j.tools.cm.RdmaServerProgram}: one message in each direction, with calls that wait
 *       for their result
 *   <li>{@link org.rdma4j.tools.cm.Rping}: remote reads and writes
 *   <li>{@link org.rdma4j.tools.cm.Ucmatose}: many connections on one event channel
 *   <li>{@link org.rdma4j.tools.cm.Udaddy} and {@link org.rdma4j.tools.cm.Mckey}: datagrams and
 *       multicast
 *   <li>{@link org.rdma4j.tools.cm.Cmtime}: how long each step of a connection takes
 * </ul>
 */
@NullMarked
package org.rdma4j.tools.cm;

import org.jspecify.annotations.NullMarked;
