package org.rdma4j.endpoint;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PathConfig;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.RdmaDevice;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.attribute.DeviceAttributes;
import org.rdma4j.verbs.attribute.Mtu;

/**
 * One end of a reliable connection with all that belongs to it: the open device, a protection
 * domain, a registered buffer, a completion queue with its channel, and a queue pair that is
 * connected to the peer's. {@link #connect} and {@link EndpointListener#accept} make it.
 *
 * <p>Requests are posted with an id, and each id is awaited, by whatever thread, in whatever order.
 * A message arrives in the receive that was posted first; where none is posted the peer's send
 * waits until one is. Until its request was awaited, a part of the buffer belongs to the request.
 *
 * <p>All methods may be called from any thread, virtual ones included. Threads may await different
 * ids at once; one of them sleeps on the completion channel for all.
 */
public final class Endpoint implements AutoCloseable {
  private static final int MAX_READS = 0xff;

  private final RdmaDevice device;
  private final MemoryRegion buffer;
  private final QueuePair queuePair;
  private final Mailbox mailbox;
  private final EndpointAddress local;
  private final String name;

  /** Each belongs to whoever has the lock. */
  private final ReentrantLock sending = new ReentrantLock();

  private final SendRequests sends;
  private final ReentrantLock receiving = new ReentrantLock();
  private final ReceiveRequests receives;

  private final EndpointAddress remote;

  /** How the two sides of a handshake differ. */
  private interface Side {
    EndpointAddress shake(Handshake handshake, EndpointAddress local, Handshake.Connect connect)
        throws IOException;
  }

  private Endpoint(LocalPort at, EndpointConfig config, Socket socket, Deadline deadline, Side side)
      throws IOException {
    device = at.device();
    name = "endpoint to " + socket.getRemoteSocketAddress();
    CompletionSource source =
        new CompletionSource(
            device,
            Math.clamp((long) config.sendDepth() + config.receiveDepth(), 1, Integer.MAX_VALUE));
    ProtectionDomain domain = device.allocateProtectionDomain();
    Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE);
    access.addAll(config.remoteAccess());
    buffer = domain.register(config.bufferBytes(), access);
    queuePair =
        domain.createQueuePair(
            QueuePairConfig.reliable(source.queue())
                .sendDepth(config.sendDepth())
                .receiveDepth(config.receiveDepth()));
    sends = queuePair.sendRequests(1);
    receives = queuePair.receiveRequests(1);
    mailbox = new Mailbox(name, source, config.sendDepth(), config.receiveDepth());
    DeviceAttributes limits = device.attributes();
    Mtu mtu = device.port(at.port()).activeMtu();
    local =
        new EndpointAddress(
            queuePair.address(at.port(), at.gidIndex()),
            mtu,
            Math.clamp(limits.maxResponderReads(), 0, MAX_READS),
            buffer.remoteAddress(),
            buffer.remoteKey(),
            buffer.byteSize());
    int maxReads = Math.clamp(limits.maxInitiatorReads(), 0, MAX_READS);
    remote =
        side.shake(
            new Handshake(socket, deadline),
            local,
            peer -> queuePair.connect(path(at, config, peer, maxReads)));
  }

  private PathConfig path(LocalPort at, EndpointConfig config, EndpointAddress peer, int maxReads) {
    return PathConfig.to(peer.queuePair())
        .port(at.port())
        .gidIndex(at.gidIndex())
        .mtu(peer.mtu().bytes() < local.mtu().bytes() ? peer.mtu() : local.mtu())
        .access(config.remoteAccess().toArray(new AccessFlag[0]))
        .remoteReads(local.remoteReads())
        .reads(Math.min(maxReads, peer.remoteReads()))
        // Eight seconds until a peer is taken for gone; to soft-RoCE 7 retries are for ever.
        .timeout(18)
        .retries(6)
        // For ever: the threads that wait have their own timeouts.
        .rnrRetry(7);
  }

  private static Endpoint over(Socket socket, EndpointConfig config, Deadline deadline, Side side)
      throws IOException {
    LocalPort at = LocalPort.open(config);
    try {
      socket.setTcpNoDelay(true);
      return new Endpoint(at, config, socket, deadline, side);
    } catch (IOException | RuntimeException failed) {
      at.device().close();
      throw failed;
    }
  }

  static Endpoint accepted(Socket socket, EndpointConfig config, Deadline deadline)
      throws IOException {
    try (socket) {
      return over(socket, config, deadline, Handshake::asServer);
    }
  }

  /**
   * Listens for endpoints that connect, with everything else at its default.
   *
   * @param local the TCP address to listen on, such as {@code new InetSocketAddress(7471)} for all
   *     addresses of this machine; port 0 has the system choose one
   * @return the listener
   * @throws IOException where it cannot listen there, as where another process does
   */
  public static EndpointListener listen(InetSocketAddress local) throws IOException {
    return listen(local, EndpointConfig.DEFAULT);
  }

  /**
   * Listens for endpoints that connect.
   *
   * @param local the TCP address to listen on; port 0 has the system choose one
   * @param config what each endpoint is made with that it accepts
   * @return the listener
   * @throws IOException where it cannot listen there, as where another process does
   */
  public static EndpointListener listen(InetSocketAddress local, EndpointConfig config)
      throws IOException {
    return EndpointListener.on(local, config);
  }

  /**
   * Connects to where an endpoint listens, with everything else at its default.
   *
   * @param server the TCP address that the other side listens on
   * @param timeout how long that may take together, every step of the handshake included
   * @return the connected endpoint
   * @throws HandshakeException where whoever listens there is no endpoint, or ended early
   * @throws IOException as {@link #connect(InetSocketAddress, EndpointConfig, Duration)} says
   */
  public static Endpoint connect(InetSocketAddress server, Duration timeout) throws IOException {
    return connect(server, EndpointConfig.DEFAULT, timeout);
  }

  /**
   * Connects to where an endpoint listens. What the two tell each other over TCP is neither secret
   * nor signed: whoever can change it can have the buffer, as far as its remote access goes.
   *
   * @param server the TCP address that the other side listens on
   * @param config what the endpoint is made with
   * @param timeout how long that may take together, every step of the handshake included
   * @return the connected endpoint, which may send at once
   * @throws UnknownHostException where the address is unresolved
   * @throws ConnectException where nobody listens there
   * @throws SocketTimeoutException where the other side did not answer within that time
   * @throws HandshakeException where whoever listens there is no endpoint, or ended early
   * @throws IOException where the TCP connection fails otherwise
   * @throws IllegalArgumentException where the timeout is negative, or the configuration names a
   *     device, port or GID that is not there, or more than the device has
   * @throws org.rdma4j.MissingLibraryException where libibverbs or librdmacm is not installed
   * @throws org.rdma4j.RdmaException where no port is active, or a resource cannot be had
   */
  public static Endpoint connect(InetSocketAddress server, EndpointConfig config, Duration timeout)
      throws IOException {
    Deadline deadline = Deadline.after(timeout);
    if (server.isUnresolved()) {
      throw new UnknownHostException(server.getHostString());
    }
    try (Socket socket = new Socket()) {
      connect(socket, server, deadline);
      return over(socket, config, deadline, Handshake::asClient);
    }
  }

  private static void connect(Socket socket, InetSocketAddress server, Deadline deadline)
      throws IOException {
    try {
      socket.connect(server, deadline.millis());
    } catch (ConnectException refused) {
      ConnectException told =
          new ConnectException(
              "no endpoint listens on %s (%s): start that side first"
                  .formatted(server, refused.getMessage()));
      told.initCause(refused);
      throw told;
    } catch (SocketTimeoutException late) {
      SocketTimeoutException told =
          new SocketTimeoutException(
              "%s does not answer within %s".formatted(server, deadline.timeout()));
      told.initCause(late);
      throw told;
    }
  }

  /**
   * The buffer from which is sent and into which is received: page-aligned memory outside the Java
   * heap.
   *
   * @return its region, with {@link MemoryRegion#segment} and {@link MemoryRegion#byteBuffer} for
   *     reading and writing it
   */
  public MemoryRegion buffer() {
    return buffer;
  }

  /**
   * What this endpoint told its peer.
   *
   * @return its address
   */
  public EndpointAddress local() {
    return local;
  }

  /**
   * What the peer told.
   *
   * @return its address
   */
  public EndpointAddress remote() {
    return remote;
  }

  /**
   * Sends a part of the buffer as one message: {@code ibv_post_send} of {@code IBV_WR_SEND}. It is
   * complete once the peer's device has it in a receive.
   *
   * @param id by which it is awaited; any number that no other request has which nobody awaited yet
   * @param offset the first byte within the buffer
   * @param length how many bytes, 0 to 4 GiB - 1 and no more than the peer's receive has
   * @throws IndexOutOfBoundsException where the part does not lie within the buffer
   * @throws IllegalArgumentException where the id is in use, or the length out of range
   * @throws IllegalStateException where as many requests as configured are not awaited yet, or the
   *     endpoint is closed
   * @throws org.rdma4j.RdmaException where the device refuses it
   */
  public void postSend(long id, long offset, long length) {
    postToSendQueue(id, request -> request.send().from(buffer, offset, length));
  }

  /**
   * Reads from the peer's buffer, without the peer taking part: {@code ibv_post_send} of {@code
   * IBV_WR_RDMA_READ}. The peer's {@link EndpointConfig#remoteAccess} must have REMOTE_READ;
   * otherwise the request fails with REMOTE_ACCESS_ERROR, on soft-RoCE with REMOTE_INVALID_REQUEST,
   * which breaks the connection.
   *
   * @param id by which it is awaited; any number that no other request has which nobody awaited yet
   * @param offset where to write what is read, the first byte within this side's buffer
   * @param length how many bytes, 0 to 4 GiB - 1
   * @param remoteOffset the first byte within the peer's buffer
   * @throws IndexOutOfBoundsException where a part does not lie within its buffer
   * @throws IllegalArgumentException where the id is in use, or the length out of range
   * @throws IllegalStateException where as many requests as configured are not awaited yet, or the
   *     endpoint is closed
   * @throws org.rdma4j.RdmaException where the device refuses it
   */
  public void postRead(long id, long offset, long length, long remoteOffset) {
    long from = remote(remoteOffset, length);
    postToSendQueue(
        id, request -> request.read(from, remote.bufferKey()).into(buffer, offset, length));
  }

  /**
   * Writes to the peer's buffer, without the peer taking part: {@code ibv_post_send} of {@code
   * IBV_WR_RDMA_WRITE}. The peer's {@link EndpointConfig#remoteAccess} must have REMOTE_WRITE;
   * otherwise the request fails with REMOTE_ACCESS_ERROR, on soft-RoCE with REMOTE_INVALID_REQUEST,
   * which breaks the connection. The peer is not told: a message sent after it is received after
   * it.
   *
   * @param id by which it is awaited; any number that no other request has which nobody awaited yet
   * @param offset the first byte to write, within this side's buffer
   * @param length how many bytes, 0 to 4 GiB - 1
   * @param remoteOffset the first byte within the peer's buffer
   * @throws IndexOutOfBoundsException where a part does not lie within its buffer
   * @throws IllegalArgumentException where the id is in use, or the length out of range
   * @throws IllegalStateException where as many requests as configured are not awaited yet, or the
   *     endpoint is closed
   * @throws org.rdma4j.RdmaException where the device refuses it
   */
  public void postWrite(long id, long offset, long length, long remoteOffset) {
    long to = remote(remoteOffset, length);
    postToSendQueue(
        id, request -> request.write(to, remote.bufferKey()).from(buffer, offset, length));
  }

  /** The address of a part of the peer's buffer. */
  private long remote(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, remote.bufferBytes());
    return remote.bufferAddress() + offset;
  }

  /** Describes a request that has just been added. */
  private interface Description {
    void of(SendRequests request);
  }

  private void postToSendQueue(long id, Description description) {
    mailbox.expect(id, Mailbox.Lane.SEND);
    boolean posted = false;
    sending.lock();
    try {
      try {
        description.of(sends.add(id).signaled());
        sends.post();
        posted = true;
      } finally {
        if (!posted) {
          sends.clear();
        }
        sends.release();
      }
    } finally {
      sending.unlock();
      if (!posted) {
        mailbox.forget(id);
      }
    }
  }

  /**
   * Receives a message into a part of the buffer: {@code ibv_post_recv}. It is complete once a
   * message has arrived, which {@link Completion#bytes} tells the length of.
   *
   * @param id by which it is awaited; any number that no other request has which nobody awaited yet
   * @param offset the first byte within the buffer
   * @param length how many bytes there is room for, 0 to 4 GiB - 1
   * @throws IndexOutOfBoundsException where the part does not lie within the buffer
   * @throws IllegalArgumentException where the id is in use, or the length out of range
   * @throws IllegalStateException where as many requests as configured are not awaited yet, or the
   *     endpoint is closed
   * @throws org.rdma4j.RdmaException where the device refuses it
   */
  public void postReceive(long id, long offset, long length) {
    mailbox.expect(id, Mailbox.Lane.RECEIVE);
    boolean posted = false;
    receiving.lock();
    try {
      try {
        receives.add(id).into(buffer, offset, length).post();
        posted = true;
      } finally {
        if (!posted) {
          receives.clear();
        }
        receives.release();
      }
    } finally {
      receiving.unlock();
      if (!posted) {
        mailbox.forget(id);
      }
    }
  }

  /**
   * Waits until the request of that id is complete. Other requests that complete meanwhile are kept
   * for the threads that await them. What was received, and what the peer has written before it
   * sent, is visible to the calling thread then.
   *
   * @param id the id that it was posted with, which is free again when this returns or throws a
   *     WorkCompletionException
   * @param timeout how long to wait at most; zero looks and does not wait
   * @return what was done
   * @throws TimeoutException where it is not complete within that time; it can be awaited again
   * @throws InterruptedException where the thread is interrupted before or while it waits
   * @throws IllegalArgumentException where the timeout is negative
   * @throws IllegalStateException where no request of that id is outstanding, another thread awaits
   *     it, or the endpoint is closed, also while waiting
   * @throws org.rdma4j.verbs.WorkCompletionException where the request failed, after which the
   *     connection is broken: all other requests fail too, those that are posted later included
   * @throws org.rdma4j.RdmaException where completions cannot be had
   */
  public Completion await(long id, Duration timeout) throws InterruptedException, TimeoutException {
    return mailbox.await(id, Deadline.after(timeout)).tell();
  }

  /**
   * Ends the waits, then closes queue pair, buffer, protection domain, completion queue and device,
   * youngest first. Requests that are outstanding are gone: await those that matter before. The
   * peer is not told; its sends fail from now on. Does nothing where it is closed.
   *
   * @throws org.rdma4j.RdmaException where a destruction failed; the rest was done all the same
   */
  @Override
  public void close() {
    mailbox.close();
    device.close();
  }

  @Override
  public String toString() {
    return name;
  }
}
