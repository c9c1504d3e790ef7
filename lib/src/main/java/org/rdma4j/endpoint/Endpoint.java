package org.rdma4j.endpoint;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.MemoryRegion;

/**
 * One end of a reliable connection with all its resources: the open device, a protection domain, a
 * registered buffer, a completion queue with its channel, and a queue pair that is connected to the
 * peer's. {@link #connect} and {@link EndpointListener#accept} create one.
 *
 * <p>Each request is posted with an id, and is awaited by that id: in any thread, and in any order.
 * A message arrives in the receive that was posted first; if none is posted, the peer's send waits
 * until one is, or for eight seconds with soft-RoCE of Linux 6.1. Until a request has been awaited,
 * its part of the buffer belongs to it and must not be used.
 *
 * <p>All methods may be called from any thread, including virtual threads. Several threads may
 * await different ids at once; one of them sleeps on the completion channel for all.
 *
 * @see EndpointListener
 * @see EndpointConfig
 * @see org.rdma4j.connection.RdmaConnection
 */
public final class Endpoint implements AutoCloseable {
  private final EndpointQueues queues;
  private final EndpointAddress local;
  private final EndpointAddress remote;

  /** Creates an endpoint whose queues are connected. */
  Endpoint(EndpointQueues queues, EndpointAddress local, EndpointAddress remote) {
    this.queues = queues;
    this.local = local;
    this.remote = remote;
  }

  /**
   * Listens for endpoints that connect, with the default configuration.
   *
   * @param local the TCP address to listen on, such as {@code new InetSocketAddress(7471)} for all
   *     addresses of this machine; with port 0 the system chooses a port
   * @return the listener
   * @throws IOException if it cannot listen there, for example because another process does
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   */
  public static EndpointListener listen(InetSocketAddress local) throws IOException {
    return listen(local, EndpointConfig.DEFAULT);
  }

  /**
   * Listens for endpoints that connect.
   *
   * @param local the TCP address to listen on; with port 0 the system chooses a port
   * @param config the configuration of each accepted endpoint
   * @return the listener
   * @throws IOException if it cannot listen there, for example because another process does
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   */
  public static EndpointListener listen(InetSocketAddress local, EndpointConfig config)
      throws IOException {
    return EndpointListener.on(local, config);
  }

  /**
   * Connects to a listener, with the default configuration.
   *
   * @param server the TCP address that the other side listens on
   * @param timeout the time for all steps together, including the handshake
   * @return the connected endpoint
   * @throws HandshakeException if the program that listens there is not an endpoint, or ended early
   * @throws IOException as {@link #connect(InetSocketAddress, EndpointConfig, Duration)} describes
   */
  public static Endpoint connect(InetSocketAddress server, Duration timeout) throws IOException {
    return connect(server, EndpointConfig.DEFAULT, timeout);
  }

  /**
   * Connects to a listener. What the two sides tell each other over TCP is neither encrypted nor
   * signed: an attacker who can change it gets access to the buffer, as far as its remote access
   * permits.
   *
   * @param server the TCP address that the other side listens on
   * @param config the configuration of the endpoint
   * @param timeout the time for all steps together, including what the listener makes before it
   *     answers: a JVM that has just started takes up to a second for that, and much longer on a
   *     busy machine
   * @return the connected endpoint, ready to send
   * @throws UnknownHostException if the address is unresolved
   * @throws ConnectException if nothing listens there
   * @throws SocketTimeoutException if the other side does not answer in time
   * @throws HandshakeException if the program that listens there is not an endpoint, ended early,
   *     or sent an address that cannot be used
   * @throws IOException if the TCP connection fails for another reason
   * @throws IllegalArgumentException if the timeout is negative, or the configuration names a port
   *     or GID that does not exist, or requires more than the device has
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws org.rdma4j.RdmaException if the device does not exist (ENODEV), no port is active, or a
   *     resource is not available
   */
  public static Endpoint connect(InetSocketAddress server, EndpointConfig config, Duration timeout)
      throws IOException {
    return EndpointSetup.connect(server, config, timeout);
  }

  /**
   * Returns the buffer that messages are sent from and received into: page-aligned memory outside
   * the Java heap.
   *
   * @return its memory region; {@link MemoryRegion#segment()} and {@link MemoryRegion#byteBuffer}
   *     give access to the bytes
   */
  public MemoryRegion buffer() {
    return queues.buffer();
  }

  /**
   * Returns what this endpoint told the peer about itself.
   *
   * @return the address of this endpoint
   */
  public EndpointAddress local() {
    return local;
  }

  /**
   * Returns what the peer told about itself.
   *
   * @return the address of the peer
   */
  public EndpointAddress remote() {
    return remote;
  }

  /**
   * Posts a send of a part of the buffer, as one message: {@code ibv_post_send} of {@code
   * IBV_WR_SEND}. It is complete once the peer's device has placed the message in a receive.
   *
   * @param id the id to await it by; any number that no other request has which was not awaited yet
   * @param offset the first byte within the buffer
   * @param length the number of bytes, from 0 to 4 GiB - 1, at most the length of the peer's
   *     receive
   * @throws IndexOutOfBoundsException if the part does not lie within the buffer
   * @throws IllegalArgumentException if the id is in use, or the length is out of range
   * @throws IllegalStateException if {@link EndpointConfig#sendDepth} requests were not awaited
   *     yet, or the endpoint is closed
   * @throws org.rdma4j.RdmaException if the device refuses the request
   */
  public void postSend(long id, long offset, long length) {
    queues.postSend(id, request -> request.send().from(buffer(), offset, length));
  }

  /**
   * Posts a read from the peer's buffer, in which the peer takes no part: {@code ibv_post_send} of
   * {@code IBV_WR_RDMA_READ}. The peer's {@link EndpointConfig#remoteAccess} must have REMOTE_READ.
   * Otherwise the request fails with REMOTE_ACCESS_ERROR, on soft-RoCE with REMOTE_INVALID_REQUEST,
   * and the connection is broken.
   *
   * @param id the id to await it by; any number that no other request has which was not awaited yet
   * @param offset the first byte to read into, within this side's buffer
   * @param length the number of bytes, from 0 to 4 GiB - 1
   * @param remoteOffset the first byte to read, within the peer's buffer
   * @throws IndexOutOfBoundsException if a part does not lie within its buffer
   * @throws IllegalArgumentException if the id is in use, or the length is out of range
   * @throws IllegalStateException if {@link EndpointConfig#sendDepth} requests were not awaited
   *     yet, or the endpoint is closed
   * @throws org.rdma4j.RdmaException if the device refuses the request
   */
  public void postRead(long id, long offset, long length, long remoteOffset) {
    long from = remoteAddress(remoteOffset, length);
    queues.postSend(
        id, request -> request.read(from, remote.bufferKey()).into(buffer(), offset, length));
  }

  /**
   * Posts a write to the peer's buffer, in which the peer takes no part: {@code ibv_post_send} of
   * {@code IBV_WR_RDMA_WRITE}. The peer's {@link EndpointConfig#remoteAccess} must have
   * REMOTE_WRITE. Otherwise the request fails with REMOTE_ACCESS_ERROR, on soft-RoCE with
   * REMOTE_INVALID_REQUEST, and the connection is broken. The peer does not learn of the write by
   * itself: send a message after it, which is received after the write is done.
   *
   * @param id the id to await it by; any number that no other request has which was not awaited yet
   * @param offset the first byte to write from, within this side's buffer
   * @param length the number of bytes, from 0 to 4 GiB - 1
   * @param remoteOffset the first byte to write to, within the peer's buffer
   * @throws IndexOutOfBoundsException if a part does not lie within its buffer
   * @throws IllegalArgumentException if the id is in use, or the length is out of range
   * @throws IllegalStateException if {@link EndpointConfig#sendDepth} requests were not awaited
   *     yet, or the endpoint is closed
   * @throws org.rdma4j.RdmaException if the device refuses the request
   */
  public void postWrite(long id, long offset, long length, long remoteOffset) {
    long to = remoteAddress(remoteOffset, length);
    queues.postSend(
        id, request -> request.write(to, remote.bufferKey()).from(buffer(), offset, length));
  }

  private long remoteAddress(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, remote.bufferBytes());
    return remote.bufferAddress() + offset;
  }

  /**
   * Posts a receive of one message into a part of the buffer: {@code ibv_post_recv}. It is complete
   * once a message has arrived; {@link Completion#bytes} is the length of the message.
   *
   * @param id the id to await it by; any number that no other request has which was not awaited yet
   * @param offset the first byte within the buffer
   * @param length the number of bytes that fit, from 0 to 4 GiB - 1
   * @throws IndexOutOfBoundsException if the part does not lie within the buffer
   * @throws IllegalArgumentException if the id is in use, or the length is out of range
   * @throws IllegalStateException if {@link EndpointConfig#receiveDepth} receives were not awaited
   *     yet, or the endpoint is closed
   * @throws org.rdma4j.RdmaException if the device refuses the request
   */
  public void postReceive(long id, long offset, long length) {
    queues.postReceive(id, offset, length);
  }

  /**
   * Waits until the request with an id is complete. Other requests that complete meanwhile are kept
   * for the threads that await them. When this returns, the calling thread sees what was received,
   * and what the peer wrote before it sent the message.
   *
   * @param id the id of the request; it is free again when this returns or throws a
   *     WorkCompletionException
   * @param timeout the time to wait; zero checks without waiting
   * @return the completion of the request
   * @throws TimeoutException if the request is not complete in time; it can be awaited again
   * @throws InterruptedException if the thread is interrupted before or while it waits
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if no request with that id is outstanding, another thread awaits
   *     it, or the endpoint is closed, also while waiting
   * @throws org.rdma4j.verbs.WorkCompletionException if the request failed; the connection is then
   *     broken, and all other requests fail too, including those posted later
   * @throws org.rdma4j.RdmaException if the completion queue cannot be polled
   */
  public Completion await(long id, Duration timeout) throws InterruptedException, TimeoutException {
    return queues.await(id, Deadline.after(timeout)).get();
  }

  /**
   * Ends the waits of other threads, then closes the queue pair, the buffer, the protection domain,
   * the completion queue and the device. Outstanding requests are dropped, so await those that
   * matter first. The peer is not told; its sends fail from now on. Does nothing if the endpoint is
   * closed.
   *
   * @throws org.rdma4j.RdmaException if a resource could not be destroyed; the others were closed
   *     all the same
   */
  @Override
  public void close() {
    queues.close();
  }

  @Override
  public String toString() {
    return queues.toString();
  }
}
