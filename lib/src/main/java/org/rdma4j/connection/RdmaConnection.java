package org.rdma4j.connection;

import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.SharedPolling;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.SendRequests;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * A connection that carries messages, and lets each side read and write memory that the other side
 * has named to it. {@link #connect} and {@link RdmaServer#accept} create one, with a protection
 * domain, queues and registered buffers of its own.
 *
 * <p>Messages arrive whole and in order. A sender waits while the receiver has no free buffer, so
 * no message ever reaches a queue pair without a posted receive. Once the sender's device has the
 * acknowledgement of a message, the message has arrived; {@link #close} waits for that.
 *
 * <h2>Failures</h2>
 *
 * <p>If the peer's process ends, in whatever way, calls fail at once with ECONNRESET. If the device
 * of this side is removed, they fail at once with ENODEV.
 *
 * <p>A packet that is not acknowledged is sent again, up to six times, after a time that the
 * connection manager sets: 2.1 s over Ethernet with Linux 6.1. So a connection survives an
 * interruption of the network for some seconds, while its calls wait. It breaks after seven times
 * that interval, if something is outstanding. A side that only receives does not notice any of
 * this, and waits until its own timeout.
 *
 * <p>If the link of this machine is down, a connection that only waits survives that. One that
 * sends meanwhile is broken by soft-RoCE of Linux 6.1; whatever was outstanding before may be lost
 * there, so the calls wait until their timeouts.
 *
 * <h2>Threads</h2>
 *
 * <p>All methods may be called from any thread, including virtual threads. One of the waiting
 * threads sleeps on the completion channel and delivers to all of them. A virtual thread does not
 * hold its carrier while it waits. A platform thread polls for a moment before it sleeps, as {@link
 * Completions#await} describes.
 */
public final class RdmaConnection implements AutoCloseable {
  private final ConnectionQueues queues;
  private final ConnectionConfig config;
  private final ConnectionState state;
  private final Messages messages;
  private final RemoteOperations operations;

  /** Polls completions, and hands each to the part of the connection that posted the request. */
  private final class Delivery implements SharedPolling.Source<Integer> {
    @Override
    public Integer fetch(Deadline deadline) throws InterruptedException {
      return queues.await(deadline);
    }

    @Override
    public void deliver(Integer polled) {
      for (int i = 0; i < polled; i++) {
        deliverOne(i);
      }
      if (state.isUsable()) {
        messages.returnCredits();
      }
    }

    private void deliverOne(int index) {
      long requestId = queues.completions().workRequestId(index);
      int number = RequestKind.number(requestId);
      WorkCompletionException failure = failure(index);
      switch (RequestKind.of(requestId)) {
        case RECEIVE -> {
          if (failure == null) {
            received(index, number);
          }
        }
        case SEND -> messages.sent(number, failure == null);
        case CONTROL -> messages.controlSent();
        case OPERATION -> operations.completed(number, failure);
      }
      if (failure != null) {
        state.requestFailed(failure);
      }
    }

    private @Nullable WorkCompletionException failure(int index) {
      try {
        queues.completions().requireSuccess(index);
        return null;
      } catch (WorkCompletionException failure) {
        return failure;
      }
    }

    private void received(int index, int slot) {
      Completions completions = queues.completions();
      // A write with an immediate value takes a receive too, and may be longer than a slot.
      if (completions.opcode(index) == CompletionOpcode.RECEIVE
          && completions.hasImmediate(index)) {
        MessageHeader header = MessageHeader.decode(completions.immediate(index));
        messages.received(slot, header, (int) completions.byteLength(index));
      } else {
        state.breakUp("the peer sent something that is not a message of this protocol");
      }
    }

    @Override
    public void endTurn() {
      try {
        queues.completions().release();
      } catch (IllegalStateException closed) {
        if (state.isUsable()) {
          throw closed;
        }
      }
    }
  }

  /**
   * Creates a connection whose queues are connected.
   *
   * @param peer what the peer told about itself
   */
  RdmaConnection(ConnectionQueues queues, ConnectionConfig config, Hello peer) {
    this.queues = queues;
    this.config = config;
    this.state = new ConnectionState(queues, PeerWatch.start(queues), new Delivery());
    this.messages = new Messages(state, queues, config, peer);
    this.operations = new RemoteOperations(state, queues);
    Leaks.watch(this, queues.lifetime());
  }

  /**
   * Connects to a server, with the default configuration.
   *
   * @param server the address that an {@link RdmaServer} listens on
   * @param timeout the time for all steps together, at most 24 days
   * @return the connection, ready to send
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws RdmaException as {@link #connect(InetSocketAddress, ConnectionConfig, Duration)}
   *     describes
   */
  public static RdmaConnection connect(InetSocketAddress server, Duration timeout)
      throws InterruptedException {
    return connect(server, ConnectionConfig.DEFAULT, timeout);
  }

  /**
   * Connects to a server.
   *
   * @param server the address that an {@link RdmaServer} listens on
   * @param config the configuration of this side, which may differ from the server's
   * @param timeout the time for all steps together, at most 24 days
   * @return the connection, ready to send
   * @throws InterruptedException if the thread is interrupted, which it notices within 50 ms
   * @throws IllegalArgumentException if the address is unresolved, the timeout is negative or too
   *     long, or the configuration requires more than the device has
   * @throws org.rdma4j.cm.ConnectionRejectedException if nothing listens at that address, or
   *     another program that rejects the connection
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws RdmaException if the address cannot be reached over RDMA, the other side does not
   *     answer in time (ETIMEDOUT), is another program (EPROTO), or a resource is not available
   */
  public static RdmaConnection connect(
      InetSocketAddress server, ConnectionConfig config, Duration timeout)
      throws InterruptedException {
    return ConnectionSetup.connect(server, config, timeout);
  }

  /**
   * Returns the address of this side.
   *
   * @return the address and the port
   * @throws IllegalStateException if the connection is closed
   */
  public InetSocketAddress localAddress() {
    return queues.id().localAddress();
  }

  /**
   * Returns the address of the other side.
   *
   * @return the address and the port
   * @throws IllegalStateException if the connection is closed
   */
  public InetSocketAddress peerAddress() {
    return queues.id().peerAddress();
  }

  /**
   * Returns the protection domain of the connection's memory and queue pair.
   *
   * @return the domain, which is closed with the connection
   */
  public ProtectionDomain domain() {
    return queues.domain();
  }

  /**
   * Returns the length of the longest message that can be sent.
   *
   * @return the {@link ConnectionConfig#messageBytes} of the peer
   */
  public int maxMessageBytes() {
    return messages.maxBytes();
  }

  /**
   * Takes a buffer, to be filled and sent.
   *
   * @param timeout the time to wait for a free buffer
   * @return the buffer, of {@link ConnectionConfig#messageBytes}, to be sent or closed
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws TimeoutException if no buffer becomes free in time
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the connection is closed
   * @throws RdmaException if the connection is broken: ECONNRESET if the peer went away, ENODEV if
   *     the device was removed
   */
  public MessageBuffer buffer(Duration timeout) throws InterruptedException, TimeoutException {
    return messages.takeBuffer(Deadline.after(timeout));
  }

  /**
   * Sends a message, and gives up its buffer. No byte is copied; a received buffer can receive
   * another message once this one has arrived. Returns once the message is posted, which requires
   * that the peer has a free buffer.
   *
   * @param buffer the message, from the position to the limit of its {@link
   *     MessageBuffer#byteBuffer}
   * @param timeout the time to wait until the peer has a free buffer
   * @throws InterruptedException if the thread is interrupted while it waits; nothing was sent, and
   *     the caller still holds the buffer
   * @throws TimeoutException if the peer has no free buffer in time; nothing was sent, and the
   *     caller still holds the buffer
   * @throws IllegalArgumentException if the timeout is negative, the buffer belongs to another
   *     connection, or the message is longer than {@link #maxMessageBytes}
   * @throws IllegalStateException if the connection is closed, or the buffer was closed or sent
   * @throws RdmaException if the connection is broken, or the peer has closed it: ECONNRESET
   */
  public void send(MessageBuffer buffer, Duration timeout)
      throws InterruptedException, TimeoutException {
    messages.send(buffer, Deadline.after(timeout));
  }

  /**
   * Sends a copy of a message. Returns once the copy is posted.
   *
   * @param message the message, from the position to the limit, which becomes the position
   * @param timeout the time to wait until this side and the peer each have a free buffer
   * @throws InterruptedException if the thread is interrupted while it waits; nothing was sent
   * @throws TimeoutException if either has no free buffer in time; nothing was sent
   * @throws IllegalArgumentException if the timeout is negative, or the message is longer than
   *     {@link #maxMessageBytes} or than the buffers of this side
   * @throws IllegalStateException if the connection is closed
   * @throws RdmaException if the connection is broken, or the peer has closed it: ECONNRESET
   */
  public void send(ByteBuffer message, Duration timeout)
      throws InterruptedException, TimeoutException {
    messages.sendCopy(message, Deadline.after(timeout));
  }

  /**
   * Waits for the next message. What arrived before the connection broke is still returned.
   *
   * @param timeout the time to wait; zero checks without waiting
   * @return the message, in the memory where it arrived, to be closed or sent; empty if the peer
   *     has closed the connection and all its messages were received
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws TimeoutException if no message arrives in time
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the connection is closed, also while waiting
   * @throws RdmaException if the connection is broken: ECONNRESET if the peer went away without
   *     closing it, ENODEV if the device was removed
   */
  public Optional<MessageBuffer> receive(Duration timeout)
      throws InterruptedException, TimeoutException {
    return messages.receive(Deadline.after(timeout));
  }

  /**
   * Allocates and registers memory: for the peer, which learns of it by a {@link RemoteMemory}, or
   * as the local side of {@link #read} and {@link #write}.
   *
   * @param bytes the length, at least 1
   * @param access the permitted uses: REMOTE_READ or REMOTE_WRITE by the peer, LOCAL_WRITE to read
   *     into it; REMOTE_WRITE requires LOCAL_WRITE too
   * @return the region, which is closed with the connection
   * @throws IllegalArgumentException if the length is out of range, or a flag lacks one that it
   *     requires
   * @throws IllegalStateException if the connection is closed
   * @throws RdmaException if the memory cannot be registered
   */
  public MemoryRegion register(long bytes, AccessFlag... access) {
    return queues.domain().register(bytes, access);
  }

  /**
   * Reads memory of the peer, without the peer taking part, and waits until the data is here. If
   * this fails or stops early, the connection is broken, and until it is closed the device may
   * still write to the local memory.
   *
   * @param from the memory of the peer, at least as long as the local memory
   * @param to the memory to write the data to, of this connection's domain and with LOCAL_WRITE
   * @param timeout the time for the read
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws TimeoutException if the read does not complete in time
   * @throws IllegalArgumentException if the timeout is negative, or the peer's memory is shorter
   *     than the local memory
   * @throws IllegalStateException if the connection or the region is closed
   * @throws WorkCompletionException if the peer's device refuses the read: REMOTE_ACCESS_ERROR if
   *     the region there does not have REMOTE_READ, or was closed
   * @throws RdmaException if the connection is broken
   */
  public void read(RemoteMemory from, MemorySlice to, Duration timeout)
      throws InterruptedException, TimeoutException {
    operate(
        from,
        to,
        timeout,
        request ->
            request.read(from.address(), from.key()).into(to.region(), to.offset(), to.length()));
  }

  /**
   * Writes to memory of the peer, without the peer taking part, and waits until the data is there.
   * If this fails or stops early, the connection is broken.
   *
   * @param from the data to write, of this connection's domain
   * @param to the memory of the peer, at least as long as the local memory
   * @param timeout the time for the write
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws TimeoutException if the write does not complete in time
   * @throws IllegalArgumentException if the timeout is negative, or the peer's memory is shorter
   *     than the local memory
   * @throws IllegalStateException if the connection or the region is closed
   * @throws WorkCompletionException if the peer's device refuses the write: REMOTE_ACCESS_ERROR if
   *     the region there does not have REMOTE_WRITE, or was closed
   * @throws RdmaException if the connection is broken
   */
  public void write(MemorySlice from, RemoteMemory to, Duration timeout)
      throws InterruptedException, TimeoutException {
    operate(to, from, timeout, request -> request.write(to.address(), to.key()).from(from));
  }

  private void operate(
      RemoteMemory remote, MemorySlice local, Duration timeout, Consumer<SendRequests> description)
      throws InterruptedException, TimeoutException {
    Deadline deadline = Deadline.after(timeout);
    if (local.length() > remote.length()) {
      throw new IllegalArgumentException(
          "length is %d, must be at most %d, the length of the peer's memory"
              .formatted(local.length(), remote.length()));
    }
    operations.perform(description, deadline);
  }

  /**
   * Tells the peer that nothing more comes, waits until everything that was sent has arrived, at
   * most for {@link ConnectionConfig#closeTimeout}, then ends the connection and closes all its
   * resources. What the peer sends meanwhile is dropped. The close does not wait if the thread is
   * interrupted.
   *
   * <p>The waits of other threads end with an IllegalStateException. If another thread is closing
   * the connection, this waits for it. If the connection is closed already, this does nothing.
   *
   * @throws RdmaException if a resource could not be destroyed; the others were closed all the same
   */
  @Override
  public void close() {
    try {
      state.close(() -> messages.end(config.closeTimeout()));
    } finally {
      // If this were collected just before the end of the close, it would be reported as a leak.
      Reference.reachabilityFence(this);
    }
  }

  @Override
  public String toString() {
    return queues.lifetime().toString();
  }
}
