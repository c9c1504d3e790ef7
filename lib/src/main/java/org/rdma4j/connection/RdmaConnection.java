package org.rdma4j.connection;

import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.ByteChannel;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.rdma4j.ConnectionException;
import org.rdma4j.RdmaException;
import org.rdma4j.lifetime.Leaks;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.MemoryRegionConfig;
import org.rdma4j.verbs.MemorySlice;
import org.rdma4j.verbs.ProtectionDomain;

/**
 * A connection that carries messages, and lets each side read and write {@link #memory} that the
 * other side has named to it. {@link #connect} and {@link RdmaServer#accept} create one. Its queue
 * pair is its own; buffers and completion queues are those of the {@link RdmaNode}.
 *
 * <p>Messages arrive whole and in order. A message of up to {@link NodeConfig#bufferBytes} is sent
 * into a buffer that the receiver has posted; no message ever reaches a device without one, because
 * the sender waits while the receiver has none for it. The receiver fetches a longer message by
 * RDMA read.
 *
 * <h2>Three ways to use it</h2>
 *
 * <ul>
 *   <li><b>Blocking</b>: {@link #send(ByteBuffer, Duration) send}, {@link #receive}, and {@link
 *       PeerMemory#read read} and {@link PeerMemory#write write} of {@link #memory}. They return or
 *       throw within their timeouts; the form without a timeout waits as long as it takes. A
 *       virtual thread does not hold its carrier.
 *   <li><b>Futures</b>: {@link #sendAsync(ByteBuffer) sendAsync}, {@link #request}, {@link
 *       PeerMemory#readAsync readAsync}, {@link PeerMemory#writeAsync writeAsync}. They never wait:
 *       what cannot be done now is done later.
 *   <li><b>Handlers</b>: {@link #onMessage}, {@link #onRequest}, and the forms that take an {@link
 *       OperationHandler}, which create no object.
 * </ul>
 *
 * <p>A program that must not queue up work without limit uses {@link #trySend}, which refuses
 * immediately, or a blocking form, which waits.
 *
 * <h2>Failures</h2>
 *
 * <p>If the connection breaks, calls fail with a {@link ConnectionException}, whose {@linkplain
 * ConnectionException#reason reason} distinguishes the causes. If the peer's process ends, in
 * whatever way, they fail with RESET: within 1 to 3 s if it was killed, since its kernel first
 * takes down what the process had. If the device of this side is removed, they fail immediately
 * with DEVICE_REMOVED. If one side breaks the protocol, the other breaks the connection, and sends
 * it the reason. A wrong argument that is known before the request is posted throws
 * IllegalArgumentException and costs nothing.
 *
 * <p>A packet that is not acknowledged is sent again, up to six times, after a time that the
 * connection manager sets: 2.1 s over Ethernet with Linux 6.1. So a connection survives an
 * interruption of the network for some seconds, while its calls wait. It breaks after seven times
 * that interval, if something is outstanding; a connection that is idle checks that the peer can
 * still be reached every {@link NodeConfig#keepAlive}.
 *
 * <h2>Threads</h2>
 *
 * <p>All methods may be called from any thread, including virtual threads. Handlers, and what
 * depends on futures, run in a thread that delivers for many connections, unless {@link
 * NodeConfig#handlers} says otherwise: they must not wait. A platform thread that waits delivers
 * itself for up to 1 ms before it sleeps.
 */
public final class RdmaConnection implements AutoCloseable {
  private static final Set<AccessFlag> REMOTE_ACCESS =
      Collections.unmodifiableSet(
          EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC));

  /** The length of the pieces in which a message of heap memory is sent. */
  private static final int PIECE = 1 << 20;

  private final Link link;
  private final PeerMemory memory;

  /** Creates the object that users hold, for a connection that is established. */
  RdmaConnection(Link link) {
    this.link = link;
    this.memory = new PeerMemory(link);
    Leaks.watch(this, link.lifetime());
  }

  /**
   * Connects to a server, with the {@linkplain RdmaNode#shared shared node}.
   *
   * @param server the address that an {@link RdmaServer} listens on
   * @param timeout the time for all steps together
   * @return the connection, ready to send
   * @throws InterruptedException if the thread is interrupted
   * @throws TimeoutException if the connection is not established in time
   * @throws IllegalArgumentException if the address is unresolved, or the timeout is negative
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws ConnectionException if nothing listens at that address, what listens rejects the
   *     connection or is another program, or the address cannot be reached over RDMA
   * @throws RdmaException if a resource is not available
   */
  public static RdmaConnection connect(InetSocketAddress server, Duration timeout)
      throws InterruptedException, TimeoutException {
    return RdmaNode.shared().connect(server, timeout);
  }

  /**
   * Connects to a server, with the {@linkplain RdmaNode#shared shared node}, and waits as long as
   * that takes.
   *
   * @param server the address that an {@link RdmaServer} listens on
   * @return the connection, ready to send
   * @throws InterruptedException if the thread is interrupted
   * @throws IllegalArgumentException if the address is unresolved
   * @throws org.rdma4j.MissingLibraryException if libibverbs or librdmacm is not installed
   * @throws ConnectionException if nothing listens at that address, what listens rejects the
   *     connection or is another program, or the address cannot be reached over RDMA, also if
   *     nothing answers
   * @throws RdmaException if a resource is not available
   */
  public static RdmaConnection connect(InetSocketAddress server) throws InterruptedException {
    return RdmaNode.shared().connect(server);
  }

  /**
   * Returns the address of this side.
   *
   * @return the address and the port
   */
  public InetSocketAddress localAddress() {
    return link.id().localAddress();
  }

  /**
   * Returns the address of the other side.
   *
   * @return the address and the port
   */
  public InetSocketAddress peerAddress() {
    return link.id().peerAddress();
  }

  /**
   * Returns the protection domain of this connection, which is that of all connections of its node
   * over the same device.
   *
   * @return the domain, which is closed with the node
   */
  public ProtectionDomain domain() {
    return link.share().domain();
  }

  DeviceShare share() {
    return link.share();
  }

  /**
   * Returns the length of the longest message that can be sent.
   *
   * @return the {@link NodeConfig#maxMessageBytes} of the peer
   */
  public long maxMessageBytes() {
    return link.peer().maxMessageBytes();
  }

  /**
   * Returns whether messages can be sent and received: the connection is neither closed nor broken,
   * and the peer has neither closed it nor ended its output.
   *
   * @return whether it was so a moment ago
   */
  public boolean isOpen() {
    return link.isOpen();
  }

  /**
   * Returns the end of the connection.
   *
   * <p>The end comes in order: the future completes after the handlers have returned from the last
   * message, request and answer that arrived before it, and after the operations that ended before
   * it are done. What was received without a handler can still be received afterwards, until this
   * side closes the connection.
   *
   * @return a future that completes when either side closes the connection, and that completes
   *     exceptionally, with the reason, when the connection breaks, also if the peer had ended its
   *     output before
   */
  public CompletableFuture<Void> ended() {
    return copy(link.closing().future());
  }

  /**
   * Returns the end of the peer's output, for programs whose handlers receive: the peer has called
   * {@link #endOutput}, or the connection has ended. Unlike after {@link #ended}, this side may
   * still be able to send, and the peer receives it.
   *
   * @return a future that completes after the handlers have returned from the last message and
   *     request of the peer, and that completes exceptionally, with the reason, when the connection
   *     breaks before
   */
  public CompletableFuture<Void> inputEnded() {
    return copy(link.closing().inputFuture());
  }

  /** Not CompletableFuture.copy, which would wrap the reason in a CompletionException. */
  private static CompletableFuture<Void> copy(CompletableFuture<Void> future) {
    CompletableFuture<Void> copy = new CompletableFuture<>();
    var unused =
        future.whenComplete(
            (ended, reason) -> {
              if (reason == null) {
                copy.complete(null);
              } else {
                copy.completeExceptionally(reason);
              }
            });
    return copy;
  }

  /**
   * Returns what the connection has done, and what it is waiting for, at this moment.
   *
   * @return the numbers
   */
  public ConnectionStatistics statistics() {
    return link.statistics();
  }

  // ---- Messages

  /**
   * Takes a buffer for a message of up to {@link NodeConfig#bufferBytes}, to be filled and sent.
   *
   * @param timeout the time to wait for a free buffer
   * @return the buffer, to be sent or closed
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws TimeoutException if no buffer becomes free in time
   * @throws IllegalArgumentException if the timeout is negative
   * @throws RdmaException if memory cannot be registered
   */
  public MessageBuffer buffer(Duration timeout) throws InterruptedException, TimeoutException {
    return new MessageBuffer(
        link.sends().takeBuffer(link.share().buffers().bufferBytes(), timeout));
  }

  /**
   * Takes a buffer for a message of up to {@link NodeConfig#bufferBytes}, to be filled and sent,
   * and waits until one is free.
   *
   * @return the buffer, to be sent or closed
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws RdmaException if memory cannot be registered
   */
  public MessageBuffer buffer() throws InterruptedException {
    return Forever.await(this::buffer);
  }

  /**
   * Takes a buffer for a message of a given length, to be filled and sent. If the length is more
   * than {@link NodeConfig#bufferBytes}, the peer fetches the message from it.
   *
   * <p>Waits while {@link NodeConfig#maxBuffers} are in use, or for a longer message while the
   * buffer would exceed {@link NodeConfig#maxLargeBytes}. So a program that fills buffers faster
   * than peers fetch them does not take ever more memory. If several threads wait, a short one may
   * be served before a long one.
   *
   * @param bytes the length of the message, from 0 to {@link NodeConfig#maxLargeBytes}
   * @param timeout the time to wait for a free buffer
   * @return the buffer, whose limit is that length, to be sent or closed
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws TimeoutException if no buffer becomes free in time
   * @throws IllegalArgumentException if the length is out of range, or the timeout is negative
   * @throws IllegalStateException if the connection is closed, also while waiting
   * @throws RdmaException if memory cannot be registered
   */
  public MessageBuffer buffer(long bytes, Duration timeout)
      throws InterruptedException, TimeoutException {
    return new MessageBuffer(link.sends().takeBuffer(bytes, timeout));
  }

  /**
   * Allocates a buffer for a message of a given length, to be filled and sent, without waiting. If
   * the length is more than {@link NodeConfig#bufferBytes}, the peer fetches the message from it.
   * Takes more than {@link NodeConfig#maxBuffers} and {@link NodeConfig#maxLargeBytes} if need be.
   *
   * @param bytes the length of the message, from 0 to 4 GiB
   * @return the buffer, whose limit is that length, to be sent or closed
   * @throws IllegalArgumentException if the length is out of range
   * @throws RdmaException if memory cannot be registered
   */
  public MessageBuffer allocateBuffer(long bytes) {
    return new MessageBuffer(link.sends().newBuffer(bytes));
  }

  /**
   * Sends a message, and gives up its buffer. No byte is copied. Returns once the peer has room for
   * the message; {@link #close} waits until it has arrived.
   *
   * @param buffer the message, from the position to the limit of its {@link
   *     MessageBuffer#byteBuffer}; it may have arrived on another connection of the same node
   * @param timeout the time to wait until the peer has room
   * @throws InterruptedException if the thread is interrupted while it waits; nothing was sent, and
   *     the caller still holds the buffer
   * @throws TimeoutException if the peer has no room in time; nothing was sent, and the caller
   *     still holds the buffer
   * @throws IllegalArgumentException if the timeout is negative, the buffer belongs to another
   *     node, or the message is longer than {@link #maxMessageBytes}
   * @throws IllegalStateException if the connection is closed, or the buffer was closed or sent
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void send(MessageBuffer buffer, Duration timeout)
      throws InterruptedException, TimeoutException {
    link.sends().send(buffer, timeout);
  }

  /**
   * Sends a message, and gives up its buffer, as {@link #send(MessageBuffer, Duration)} does, and
   * waits as long as that takes.
   *
   * @param buffer the message, from the position to the limit of its {@link
   *     MessageBuffer#byteBuffer}
   * @throws InterruptedException if the thread is interrupted while it waits; nothing was sent, and
   *     the caller still holds the buffer
   * @throws IllegalArgumentException if the buffer belongs to another node, or the message is
   *     longer than {@link #maxMessageBytes}
   * @throws IllegalStateException if the connection is closed, or the buffer was closed or sent
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void send(MessageBuffer buffer) throws InterruptedException {
    Forever.await(
        this,
        buffer,
        (connection, sent, timeout) -> {
          connection.send(sent, timeout);
          return true;
        });
  }

  /**
   * Sends a copy of a message. Returns once the copy is in flight. A message that is longer than 1
   * MiB is copied in pieces, the next one when the peer has fetched the one before.
   *
   * @param message the message, from the position to the limit, which becomes the position
   * @param timeout the time to wait until both sides have room
   * @throws InterruptedException if the thread is interrupted while it waits. A message of more
   *     than 1 MiB may have been sent in part; that breaks the connection
   * @throws TimeoutException if there is no room in time. Nothing was sent, unless the message has
   *     more than 1 MiB: then a part may have been sent, and the connection is broken
   * @throws IllegalArgumentException if the timeout is negative, or the message is longer than
   *     {@link #maxMessageBytes}
   * @throws IllegalStateException if the connection is closed. If that happens in the middle of a
   *     message of more than 1 MiB, the peer sees a reset
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void send(ByteBuffer message, Duration timeout)
      throws InterruptedException, TimeoutException {
    link.sends().checkLength(message.remaining());
    if (message.remaining() > PIECE) {
      new PiecewiseSend(link, PIECE).send(message, timeout);
    } else {
      link.sends().sendCopy(message, timeout);
      message.position(message.limit());
    }
  }

  /**
   * Sends a copy of a message, as {@link #send(ByteBuffer, Duration)} does, and waits as long as
   * that takes.
   *
   * @param message the message, from the position to the limit, which becomes the position
   * @throws InterruptedException if the thread is interrupted while it waits. A message of more
   *     than 1 MiB may have been sent in part; that breaks the connection
   * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes}
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void send(ByteBuffer message) throws InterruptedException {
    Forever.await(
        this,
        message,
        (connection, sent, timeout) -> {
          connection.send(sent, timeout);
          return true;
        });
  }

  /**
   * Sends a message if the peer has room for it now, and gives up its buffer then.
   *
   * @param buffer the message, from the position to the limit of its {@link
   *     MessageBuffer#byteBuffer}
   * @return whether it was sent; if not, the caller still holds the buffer
   * @throws IllegalArgumentException if the buffer belongs to another node, or the message is
   *     longer than {@link #maxMessageBytes}
   * @throws IllegalStateException if the connection is closed, or the buffer was closed or sent
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public boolean trySend(MessageBuffer buffer) {
    return link.sends().trySend(buffer);
  }

  /**
   * Sends a copy of a message if the peer has room for it now. The copy takes a buffer even if
   * {@link NodeConfig#maxBuffers} are in use. No object is created for the message.
   *
   * @param message the message, from the position to the limit, which becomes the position if it
   *     was sent
   * @return whether it was sent; if not, nothing has changed
   * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes}
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public boolean trySend(ByteBuffer message) {
    boolean sent = link.sends().trySendCopy(message);
    if (sent) {
      message.position(message.limit());
    }
    return sent;
  }

  /**
   * Sends a message as soon as the peer has room for it, and gives up its buffer immediately.
   *
   * @param buffer the message, from the position to the limit of its {@link
   *     MessageBuffer#byteBuffer}
   * @return a future that completes when the message has arrived, and exceptionally if it cannot
   * @throws IllegalArgumentException if the buffer belongs to another node, or the message is
   *     longer than {@link #maxMessageBytes}
   * @throws IllegalStateException if the connection is closed, or the buffer was closed or sent
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public CompletableFuture<Void> sendAsync(MessageBuffer buffer) {
    CompletableFuture<Void> arrived = new CompletableFuture<>();
    link.sends().sendHeld(buffer, arrived, 0);
    return arrived;
  }

  /**
   * Sends a message as soon as the peer has room for it, gives up its buffer immediately, and
   * notifies a handler when the message has arrived.
   *
   * @param buffer the message, from the position to the limit of its {@link
   *     MessageBuffer#byteBuffer}
   * @param token the argument of the handler
   * @param handler the handler
   * @throws IllegalArgumentException if the buffer belongs to another node, or the message is
   *     longer than {@link #maxMessageBytes}
   * @throws IllegalStateException if the connection is closed, or the buffer was closed or sent
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void sendAsync(MessageBuffer buffer, long token, OperationHandler handler) {
    link.sends().sendHeld(buffer, Objects.requireNonNull(handler, "handler"), token);
  }

  /**
   * Sends a copy of a message as soon as the peer has room for it. The copy takes a buffer even if
   * {@link NodeConfig#maxBuffers} are in use.
   *
   * @param message the message, from the position to the limit, which becomes the position
   * @return a future that completes when the message has arrived, and exceptionally if it cannot
   * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes}
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public CompletableFuture<Void> sendAsync(ByteBuffer message) {
    CompletableFuture<Void> arrived = new CompletableFuture<>();
    link.sends().sendCopyAsync(message, arrived, 0);
    message.position(message.limit());
    return arrived;
  }

  /**
   * Sends a copy of a message as soon as the peer has room for it, and notifies a handler when the
   * message has arrived. The copy takes a buffer even if {@link NodeConfig#maxBuffers} are in use.
   * No object is created for the message.
   *
   * @param message the message, from the position to the limit, which becomes the position
   * @param token the argument of the handler
   * @param handler the handler
   * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes}
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void sendAsync(ByteBuffer message, long token, OperationHandler handler) {
    link.sends().sendCopyAsync(message, Objects.requireNonNull(handler, "handler"), token);
    message.position(message.limit());
  }

  /**
   * Sends registered memory as a message, without a copy: the peer fetches it.
   *
   * <p>Only the peer can read the memory, and only until the future completes, as {@link #expose}
   * describes. The region needs no access for that.
   *
   * @param memory the message, at least 1 byte of a region of {@link #domain}, which must not
   *     change or be closed until the future completes; a {@link org.rdma4j.memory.Slab} may be
   *     released before
   * @return a future that completes when the peer has fetched the message and cannot read the
   *     memory any more, and exceptionally if it cannot fetch it
   * @throws IllegalArgumentException if the memory is empty, of another domain, or longer than
   *     {@link #maxMessageBytes}
   * @throws UnsupportedOperationException if the memory has to be registered once more, and this
   *     process cannot access it
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public CompletableFuture<Void> sendAsync(MemorySlice memory) {
    if (memory.length() == 0) {
      throw new IllegalArgumentException(
          "the length of the memory is 0, must be at least 1: send an empty buffer instead");
    }
    CompletableFuture<Void> fetched = new CompletableFuture<>();
    link.sends().sendMemory(memory, fetched);
    return fetched;
  }

  /**
   * Waits for the next message, which stays in the memory where it arrived. What arrived before the
   * connection broke is still returned.
   *
   * @param timeout the time to wait; zero checks without waiting
   * @return the message, which the caller must close or send; empty if the peer has ended its
   *     output and there are no more messages
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws TimeoutException if no message arrives in time
   * @throws IllegalArgumentException if the timeout is negative
   * @throws IllegalStateException if the connection is closed, also while waiting, or has a handler
   *     of messages
   * @throws ConnectionException if the connection is broken
   */
  public Optional<MessageBuffer> receive(Duration timeout)
      throws InterruptedException, TimeoutException {
    MessageBuffer message = link.receives().receive(timeout);
    return Optional.ofNullable(message);
  }

  /**
   * Waits for the next message, as long as that takes. It stays in the memory where it arrived.
   * What arrived before the connection broke is still returned.
   *
   * @return the message, which the caller must close or send; empty if the peer has ended its
   *     output and there are no more messages
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws IllegalStateException if the connection is closed, also while waiting, or has a handler
   *     of messages
   * @throws ConnectionException if the connection is broken
   */
  public Optional<MessageBuffer> receive() throws InterruptedException {
    return Forever.await(this::receive);
  }

  /**
   * Waits for the next message, and copies it into a buffer of the caller, without an object for
   * the message. If the next one is a notice, use {@link #receive(Duration)}.
   *
   * @param target the buffer: the message is put at its position, which moves to the end of the
   *     message
   * @param timeout the time to wait; zero checks without waiting
   * @return whether there was a message; false if the peer has ended its output and all its
   *     messages were received
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws TimeoutException if no message arrives in time
   * @throws IllegalArgumentException if the timeout is negative, or the message is longer than what
   *     remains in the buffer; it is still the next message
   * @throws ReadOnlyBufferException if the buffer is read-only
   * @throws IllegalStateException if the connection is closed, also while waiting, or has a handler
   *     of messages, or if the next message is a notice; it is still the next one
   * @throws ConnectionException if the connection is broken
   */
  public boolean receive(ByteBuffer target, Duration timeout)
      throws InterruptedException, TimeoutException {
    if (target.isReadOnly()) {
      throw new ReadOnlyBufferException();
    }
    return link.receives().receive(target, timeout);
  }

  /**
   * Waits for the next message, as long as that takes, and copies it into a buffer of the caller,
   * as {@link #receive(ByteBuffer, Duration)} does.
   *
   * @param target the buffer: the message is put at its position, which moves to the end of the
   *     message
   * @return whether there was a message; false if the peer has ended its output and all its
   *     messages were received
   * @throws InterruptedException if the thread is interrupted while it waits
   * @throws IllegalArgumentException if the message is longer than what remains in the buffer; it
   *     is still the next message
   * @throws ReadOnlyBufferException if the buffer is read-only
   * @throws IllegalStateException if the connection is closed, also while waiting, or has a handler
   *     of messages, or if the next message is a notice; it is still the next one
   * @throws ConnectionException if the connection is broken
   */
  public boolean receive(ByteBuffer target) throws InterruptedException {
    return Forever.await(this, target, RdmaConnection::receive);
  }

  /**
   * Gives all messages to a handler from now on, also messages that have arrived and were not
   * received.
   *
   * @param handler the handler
   */
  public void onMessage(MessageHandler handler) {
    link.telling().handleMessages(Objects.requireNonNull(handler, "handler"), this);
  }

  /**
   * Gives the bytes of all messages to a handler from now on, as {@link #onMessage} does, without
   * an object for each: the handler reads a message where it arrived, and does not own it. It is
   * for a peer that sends no notices: a notice that arrives breaks the connection.
   *
   * @param handler is called with the message from the position to the limit of a read-only buffer,
   *     big-endian, which holds another message after the handler has returned. It runs under the
   *     rules of {@link MessageHandler}
   * @throws IllegalStateException if the connection is closed, or {@link
   *     NodeConfig#maxMessageBytes} is more than a ByteBuffer can have
   */
  public void onMessageBytes(Consumer<ByteBuffer> handler) {
    onMessageBytes(handler, RdmaConnection::refuseNotice);
  }

  /**
   * Gives the bytes of all messages to one handler from now on, and all notices to another one,
   * without an object for each. Both are called in the order in which the peer has sent.
   *
   * @param handler is called with the message from the position to the limit of a read-only buffer,
   *     big-endian, which holds another message after the handler has returned. It runs under the
   *     rules of {@link MessageHandler}
   * @param noticeHandler is called with the value that the peer gave to {@link
   *     PeerMemory#writeAndNotify}, under the same rules
   * @throws IllegalStateException if the connection is closed, or {@link
   *     NodeConfig#maxMessageBytes} is more than a ByteBuffer can have
   */
  public void onMessageBytes(Consumer<ByteBuffer> handler, LongConsumer noticeHandler) {
    link.telling()
        .handleMessageBytes(
            Objects.requireNonNull(handler, "handler"),
            Objects.requireNonNull(noticeHandler, "noticeHandler"),
            this);
  }

  private static void refuseNotice(long notice) {
    throw new IllegalStateException(
        "the notice "
            + notice
            + " has arrived, and there is no handler of notices: give one to onMessageBytes");
  }

  /**
   * Gives no further message and no further request of the peer to a handler until {@link
   * #resumeReceiving}: for a program that cannot keep up with its peer. A handler that runs just
   * now in another thread is not ended. The peer can send as many short messages as {@link
   * NodeConfig#receives} allows, and then waits; until then, answers to requests still come. The
   * end of the connection comes after the messages before it, and so after the pause.
   *
   * <p>Does nothing if the connection is paused. A blocking {@link #receive} is not affected.
   */
  public void pauseReceiving() {
    link.telling().pause(true);
  }

  /** Ends what {@link #pauseReceiving} has begun. Does nothing if the connection is not paused. */
  public void resumeReceiving() {
    link.telling().pause(false);
  }

  /**
   * Returns whether the program should send more: false from when the messages that it has sent and
   * that have not arrived hold more memory than the upper one of the {@linkplain #watermarks
   * watermarks}, until they hold no more than the lower one. {@link #sendAsync(ByteBuffer)
   * sendAsync} takes more all the same; a program that goes on nevertheless uses up the buffers of
   * all connections of the node.
   *
   * @return whether it was so a moment ago
   */
  public boolean isWritable() {
    return link.isWritable();
  }

  /**
   * Sets when {@link #isWritable} changes. Until this is called, the marks are 512 KiB and 1 MiB.
   * What counts is memory, as in {@link ConnectionStatistics#heldBytes}: a short message holds a
   * buffer of {@link NodeConfig#bufferBytes}, which it shares with others if it is sent together
   * with them.
   *
   * @param low the connection becomes writable if its messages hold no more bytes than that; at
   *     least 0
   * @param high the connection is not writable any more if they hold more bytes than that; at least
   *     {@code low}
   * @throws IllegalArgumentException if a mark is out of range
   */
  public void watermarks(long low, long high) {
    if (low < 0 || high < low) {
      throw new IllegalArgumentException(
          "the watermarks are %d and %d, the lower one must be from 0 to the upper one"
              .formatted(low, high));
    }
    link.telling().watermarks(low, high);
  }

  /**
   * Gives a handler each change of {@link #isWritable} from now on, so that a program that has
   * waited goes on. If the connection becomes writable again before the handler runs, the handler
   * gets that alone.
   *
   * @param handler the handler, which replaces that of an earlier call
   * @throws IllegalStateException if the connection is closed
   */
  public void onWritability(WritabilityHandler handler) {
    link.telling().handleWritability(Objects.requireNonNull(handler, "handler"), this);
  }

  /**
   * Notifies the peer that this side sends no more messages. The peer's {@link #receive} is empty
   * after those sent before, and its {@link #inputEnded} completes; it can still send. Does nothing
   * if this side has ended its output. Does not wait: the end is sent after the messages before it,
   * and like a message only while the peer holds fewer messages than its {@link
   * NodeConfig#receives}. {@code ibv_post_send}.
   *
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void endOutput() {
    link.sends().endOutput();
  }

  /**
   * Sets the length of the longest message, request or answer that the peer may send from now on. A
   * longer one breaks the connection before it takes memory; what has begun to arrive is not
   * affected. Until the first call, that is {@link NodeConfig#initialMessageBytes} if a server has
   * accepted the connection, otherwise {@link NodeConfig#maxMessageBytes}, which is the most in any
   * case.
   *
   * @param maxBytes the length in bytes, at least 0
   * @throws IllegalArgumentException if the length is negative
   */
  public void allowMessages(long maxBytes) {
    if (maxBytes < 0) {
      throw new IllegalArgumentException("maxBytes is " + maxBytes + ", must not be negative");
    }
    link.allowMessages(maxBytes, "RdmaConnection.allowMessages");
  }

  // ---- Requests and answers

  /**
   * Sends a request, which the peer's {@link #onRequest} handler answers. Any number may be
   * outstanding; answers come in any order.
   *
   * @param request the bytes from the position to the limit, which becomes the position
   * @return a future of the answer, which must be closed. It completes exceptionally if the peer
   *     refuses the request, or the connection ends before the answer. To stop waiting, use {@link
   *     CompletableFuture#orTimeout} or {@link CompletableFuture#cancel}: the peer is notified
   *     ({@link IncomingRequest#isCancelled}), and an answer that comes nevertheless is dropped
   * @throws IllegalArgumentException if the request is longer than {@link #maxMessageBytes}
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public CompletableFuture<MessageBuffer> request(ByteBuffer request) {
    link.sends().checkLength(request.remaining());
    try (MessageBuffer buffer = new MessageBuffer(link.sends().newBuffer(request.remaining()))) {
      buffer.byteBuffer().put(request.duplicate()).flip();
      CompletableFuture<MessageBuffer> answer = link.sends().request(buffer);
      request.position(request.limit());
      return answer;
    }
  }

  /**
   * Sends a request in a buffer that the caller holds, and gives it up. If this throws, nothing was
   * sent, and the caller still holds the buffer.
   *
   * @param request the request, from the position to the limit of its {@link
   *     MessageBuffer#byteBuffer}
   * @return a future of the answer, as that of {@link #request(ByteBuffer)}
   * @throws IllegalArgumentException if the request is longer than {@link #maxMessageBytes}, or the
   *     buffer belongs to another node
   * @throws IllegalStateException if the connection is closed, or the buffer was closed or sent
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public CompletableFuture<MessageBuffer> request(MessageBuffer request) {
    return link.sends().request(request);
  }

  /**
   * Gives the requests of the peer to a handler from now on, beginning with requests that have
   * arrived. Without a handler they wait, each in a buffer that the peer then cannot use for a
   * message.
   *
   * @param handler the handler
   */
  public void onRequest(RequestHandler handler) {
    link.telling().handleRequests(Objects.requireNonNull(handler, "handler"), this);
  }

  // ---- Memory

  /**
   * Returns the memory of the peer, for reads, writes and atomic operations.
   *
   * @return always the same object
   */
  public PeerMemory memory() {
    return memory;
  }

  /**
   * Allocates and registers memory: for peers, or as the local memory of operations on the {@link
   * #memory} of the peer. All connections of the node over the same device can use it. {@link
   * RdmaNode#register(Arena, MemorySegment, AccessFlag...)} registers memory of your own.
   *
   * @param bytes the length, at least 1
   * @param access the permitted uses: LOCAL_WRITE to read into it; REMOTE_READ, REMOTE_WRITE or
   *     REMOTE_ATOMIC by every peer that knows its key, of which the last two require LOCAL_WRITE.
   *     To name only a part of the memory to a peer, {@link #expose} that part instead
   * @return the region, to be closed when it is no longer needed, after the operations on it: one
   *     in progress fails otherwise, and breaks its connection. The end of the node closes it, too
   * @throws IllegalArgumentException if the length is out of range, or a flag lacks another that it
   *     requires
   * @throws RdmaException if the memory cannot be registered, or the device was removed
   */
  public MemoryRegion register(long bytes, AccessFlag... access) {
    checkCanRegister();
    return link.share().exposures().register(MemoryRegionConfig.allocate(bytes), access);
  }

  private void checkCanRegister() {
    link.checkNotClosed();
    link.share().checkNotRemoved("registering memory for " + link.lifetime());
  }

  /**
   * Exposes a part of a region to the peer: creates a key that grants this part and no more, until
   * it is revoked or the connection is closed. Send the name in a message of this connection, which
   * arrives when the access has begun.
   *
   * <p>If the device has memory windows of type 2, as ConnectX adapters have, the key is that of a
   * window: only the peer of this connection can use it, and only over this connection. The window
   * is bound by a request; this method waits for that, up to {@link NodeConfig#closeTimeout},
   * unless a handler calls it. The region must have MEMORY_WINDOW_BIND for that, as each one has
   * that the node or one of its connections has registered.
   *
   * <p>Otherwise the part is registered once more, as a region of its own. That is so over
   * soft-RoCE, whose windows grant the whole region, soft-iWARP and EFA, and for parts of 4 GiB or
   * more. The key of such a region is valid for each connection to this node over the same device,
   * so anyone who learns or guesses it can use it as long as the part is exposed.
   *
   * @param memory the part, at least 1 byte
   * @param access what peers may do: REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC
   * @return the exposed memory, to be closed in order to revoke it; otherwise it is revoked when
   *     the region or the connection is closed
   * @throws IllegalArgumentException if the memory is empty or of another domain, the access is
   *     empty or contains anything else, or the region lacks LOCAL_WRITE and the access is more
   *     than REMOTE_READ
   * @throws UnsupportedOperationException if the part has to be registered, and this process cannot
   *     access its memory
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   * @throws RdmaException if the device has no further window, the memory cannot be registered, or
   *     the device was removed
   */
  public ExposedMemory expose(MemorySlice memory, AccessFlag... access) {
    checkCanRegister();
    Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
    flags.addAll(List.of(access));
    if (flags.isEmpty() || !REMOTE_ACCESS.containsAll(flags)) {
      throw new IllegalArgumentException(
          "access is " + flags + ", must be one or more of " + REMOTE_ACCESS);
    }
    if (flags.equals(Set.of(AccessFlag.REMOTE_READ))) {
      link.operations().checkDomain(memory);
    } else {
      link.operations().checkLocal(memory, AccessFlag.LOCAL_WRITE, "to be written by the peer");
    }
    return new ExposedMemory(link.operations().expose(memory, flags), memory.length());
  }

  // ---- Streams

  /**
   * Returns a channel of bytes over the messages of this connection, for code that knows {@code
   * java.nio}. A read waits for at least one byte and returns -1 at the end of the peer's output; a
   * write waits until all bytes are in flight. Notices have no bytes and are dropped. Closing the
   * channel closes the connection. An exception of the connection is the cause of an IOException.
   *
   * @return the channel, which one thread may read and another one write; messages that are
   *     received otherwise are missing in it
   */
  public ByteChannel asByteChannel() {
    return new MessageByteChannel(this);
  }

  /**
   * Returns the bytes of the messages of the peer as a stream.
   *
   * @return the stream, which ends at the end of the peer's output; closing it has no effect on the
   *     connection
   */
  public InputStream inputStream() {
    return new MessageInputStream(new MessageByteChannel(this));
  }

  /**
   * Returns a stream whose bytes are sent as messages.
   *
   * @return the stream; each write is sent immediately, so wrap it in a {@link
   *     java.io.BufferedOutputStream} for small ones. Closing it is {@link #endOutput}
   */
  public OutputStream outputStream() {
    return new MessageOutputStream(this, new MessageByteChannel(this));
  }

  // ---- The end

  /**
   * Notifies the peer that nothing more comes, waits until everything that was sent has arrived, at
   * most for {@link NodeConfig#closeTimeout}, then ends the connection. What the peer sends
   * meanwhile is dropped. The close does not wait if the thread is interrupted. Called by a
   * handler, it returns immediately, and the connection is closed soon.
   *
   * <p>The waits of other threads end with an IllegalStateException. If another thread is closing
   * the connection, this waits for it. If the connection is closed already, this does nothing. If a
   * handler has not returned after {@link NodeConfig#closeTimeout}, but not before 5 s, this
   * returns and the close goes on in another thread.
   *
   * @throws RdmaException if a resource could not be destroyed; the others were closed all the same
   */
  @Override
  public void close() {
    if (link.isHandler()) {
      var unused = closeAsync();
      return;
    }
    try {
      link.closing().close();
    } finally {
      // If this were collected just before the end of the close, it would be reported as a leak.
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Closes the connection as {@link #close} does, without waiting, so that a thread can close many
   * connections at the same time. The connection is closed at most {@link NodeConfig#closeTimeout}
   * later. A resource that cannot be destroyed is logged. Does nothing but return the future if the
   * connection is closed, or is being closed.
   *
   * @return a future that completes when the connection is closed and the program has got all
   *     notifications, in the thread or the executor that {@link NodeConfig#handlers} chooses
   */
  public CompletableFuture<Void> closeAsync() {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    var unused = link.closing().closeSoon().thenRun(() -> hasClosed(closed));
    return closed;
  }

  /** Refers to this, which would be reported as a leak if it were collected before. */
  private void hasClosed(CompletableFuture<Void> closed) {
    try {
      closed.complete(null);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /**
   * Ends the connection immediately and without a goodbye: messages that have not arrived are lost,
   * and the calls of the peer fail with a {@link ConnectionException} whose reason is RESET.
   * SO_LINGER 0 does that to a TCP connection. This does not wait, so a handler may call it;
   * another thread calls {@code ibv_destroy_qp} and frees the rest. Does nothing if the connection
   * is closed. Any thread may call it.
   */
  public void abort() {
    link.share().node().logFailure(link, link.closing().closeAtOnce());
  }

  @Override
  public String toString() {
    return link.lifetime().toString();
  }
}
