package org.rdma4j.valkey;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.ChannelSet;
import org.rdma4j.cm.ConnectionConfig;
import org.rdma4j.cm.PortSpace;
import org.rdma4j.cm.SynchronousCmId;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
import org.rdma4j.verbs.PreparedReceives;
import org.rdma4j.verbs.ProtectionDomain;
import org.rdma4j.verbs.QueuePair;
import org.rdma4j.verbs.QueuePairConfig;
import org.rdma4j.verbs.ReceiveRequests;
import org.rdma4j.verbs.RemoteMemory;
import org.rdma4j.verbs.WorkCompletionException;

/**
 * One connection to a server: what was created for it, and the state of the protocol.
 *
 * <p>All of it is in a protection domain of its own, so that the key of its buffer is worth nothing
 * to another connection. No thread belongs to it. One of the threads that wait polls for all; the
 * others wait until it has handled what came. A thread of the process visits each connection once a
 * second, while there are any.
 */
final class ValkeyLink {
  private static final ConnectionConfig CONFIG = ConnectionConfig.DEFAULT.remoteReads(1).reads(1);

  /** Messages that the server may send before this side polls; the protocol recommends 1024. */
  private static final int RECEIVES = 1024;

  private static final int BATCH = 64;
  private static final int MAX_ROUNDS = 32;
  private static final int TICKS_PER_KEEPALIVE = 3;
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);
  private static final ScheduledThreadPoolExecutor TICKS = ticks();

  private final InetSocketAddress server;
  private final SynchronousCmId client;
  private final ChannelSet channels;
  private final CompletionChannel channel;
  private final ProtectionDomain domain;
  private final Completions completions;
  private final MemoryRegion messages;
  private final PreparedReceives receives;
  private final SendSlots sends;
  private final ReceiveBuffer buffer;

  private final ReentrantLock state = new ReentrantLock();
  private final Condition changed = state.newCondition();

  // Guarded by state, as are the sends, the receives and the buffer.
  private boolean polling;
  private boolean featuresKnown;
  private RemoteMemory serverBuffer = new RemoteMemory(0, 0, 0);
  private long serverBufferUsed;
  private boolean bufferUnnamed;
  private boolean closedByServer;
  private @Nullable IOException failure;
  private int ticks;

  private volatile @Nullable Future<?> ticking;

  /** Creates what the client, whose route is resolved, needs to connect. */
  private ValkeyLink(
      InetSocketAddress server, SynchronousCmId client, int receiveBytes, int sendBytes) {
    this.server = server;
    this.client = client;
    channels = ChannelSet.open();
    CompletionChannel events = null;
    ProtectionDomain memory = null;
    try {
      events = client.id().device().createCompletionChannel();
      memory = client.id().device().allocateProtectionDomain();
      channel = events;
      domain = memory;
      channels.add(channel);
      channels.add(client.id().channel());
      CompletionQueue queue =
          channel.device().createCompletionQueue(RECEIVES + SendSlots.COUNT, channel);
      completions = queue.completions(BATCH);
      QueuePair queuePair =
          client
              .id()
              .createQueuePair(
                  domain,
                  QueuePairConfig.reliable(queue)
                      .sendDepth(SendSlots.COUNT)
                      .receiveDepth(RECEIVES));
      messages = domain.register(RECEIVES * ControlMessage.BYTES, AccessFlag.LOCAL_WRITE);
      sends = new SendSlots(queuePair, domain.register(sendBytes));
      buffer =
          new ReceiveBuffer(
              domain.register(receiveBytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
      ReceiveRequests requests = queuePair.receiveRequests(RECEIVES);
      for (int i = 0; i < RECEIVES; i++) {
        requests.add(i).into(messages, (long) i * ControlMessage.BYTES, ControlMessage.BYTES);
      }
      receives = requests.prepare();
      receives.post();
      receives.release();
    } catch (RuntimeException failed) {
      close(client, events, memory, channels);
      throw failed;
    }
  }

  /** Closes them, also if one of them fails: the last first, since they depend on each other. */
  private static void close(
      SynchronousCmId client,
      @Nullable CompletionChannel channel,
      @Nullable ProtectionDomain domain,
      ChannelSet channels) {
    try (channels;
        domain;
        channel;
        client) {
      // The queue pair ends first, then its queue, then the memory.
    }
  }

  /**
   * Connects to a server.
   *
   * @param owner without which nothing uses the connection: if it is dropped, that is closed
   * @param deadline the value of {@link System#nanoTime} at which to give up
   */
  static ValkeyLink connect(
      InetSocketAddress server, int receiveBytes, int sendBytes, Object owner, long deadline)
      throws IOException, InterruptedException, TimeoutException {
    SynchronousCmId client = SynchronousCmId.open(PortSpace.TCP);
    ValkeyLink link = null;
    boolean done = false;
    try {
      client.resolveAddress(server, remaining(deadline));
      client.resolveRoute(remaining(deadline));
      link = new ValkeyLink(server, client, receiveBytes, sendBytes);
      client.connect(CONFIG, remaining(deadline));
      link.exchangeFeatures(deadline);
      link.beginTicks(owner);
      done = true;
      return link;
    } finally {
      if (!done && link != null) {
        link.close();
      } else if (!done) {
        client.close();
      }
    }
  }

  private static Duration remaining(long deadline) {
    return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
  }

  /** Asks for the server's features, of which this side uses none, and names the buffer. */
  private void exchangeFeatures(long deadline) throws IOException {
    state.lock();
    try {
      sends.send(ControlMessage.GET_SERVER_FEATURE);
      await(() -> featuresKnown && serverBuffer.length() > 0, deadline, "no answer from");
      sends.send(ControlMessage.SET_CLIENT_FEATURE);
      sends.send(buffer.name());
    } catch (RuntimeException failed) {
      throw fail(failed);
    } finally {
      state.unlock();
    }
  }

  InetSocketAddress localAddress() {
    return client.id().localAddress();
  }

  /**
   * Reads bytes, at least one.
   *
   * @param deadline the value of {@link System#nanoTime} at which to give up
   * @throws SocketTimeoutException if none came by then
   * @throws IOException if the connection has ended, and all bytes before its end were read
   */
  int read(byte[] target, int offset, int length, long deadline) throws IOException {
    state.lock();
    try {
      await(() -> buffer.available() > 0, deadline, "no bytes from");
      int bytes = buffer.read(target, offset, length);
      if (buffer.restart()) {
        bufferUnnamed = true;
        nameBuffer();
      }
      return bytes;
    } finally {
      state.unlock();
    }
  }

  int available() {
    state.lock();
    try {
      return buffer.available();
    } finally {
      state.unlock();
    }
  }

  /**
   * Writes bytes, at least one.
   *
   * @return how many
   * @throws SocketTimeoutException if the server took none by the deadline
   * @throws IOException if the connection has ended
   */
  int write(byte[] source, int offset, int length, long deadline) throws IOException {
    state.lock();
    try {
      await(
          () -> sends.hasFree() && serverBufferSpace() > 0, deadline, "no space in the buffer of");
      throwIfFailed();
      int most = (int) Math.min(length, serverBufferSpace());
      int written = sends.write(source, offset, most, serverBuffer, serverBufferUsed);
      serverBufferUsed += written;
      return written;
    } catch (SocketTimeoutException late) {
      // The server has a part of what the program wrote, and would take the next for the rest.
      fail(late);
      throw late;
    } catch (RuntimeException failed) {
      throw fail(failed);
    } finally {
      state.unlock();
    }
  }

  private long serverBufferSpace() {
    return serverBuffer.length() - serverBufferUsed;
  }

  /** Names the buffer anew as soon as there is a slot for that. */
  private void nameBuffer() {
    if (bufferUnnamed && failure == null && sends.hasFree()) {
      bufferUnnamed = false;
      try {
        sends.send(buffer.name());
      } catch (RuntimeException failed) {
        fail(failed);
      }
    }
  }

  /**
   * Waits until something holds, which handled completions may change. It ignores interrupts, as
   * {@link java.net.Socket} does, and leaves the thread interrupted.
   */
  private void await(BooleanSupplier holds, long deadline, String missing) throws IOException {
    boolean interrupted = false;
    try {
      while (!holds.getAsBoolean()) {
        throwIfFailed();
        long nanos = deadline - System.nanoTime();
        if (nanos <= 0) {
          throw new SocketTimeoutException("timed out: %s %s".formatted(missing, server));
        }
        try {
          if (polling) {
            changed.awaitNanos(nanos);
          } else {
            poll(Duration.ofNanos(nanos));
          }
        } catch (InterruptedException interrupt) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Waits for completions or the end of the connection, and handles them. What fails ends the
   * connection.
   *
   * @return the number of completions
   */
  private int poll(Duration timeout) throws InterruptedException {
    try {
      int polled = awaitCompletions(timeout);
      if (polled == 0 || !completions.isSuccess(polled - 1)) {
        noteEnd();
      }
      handle(polled);
      return polled;
    } catch (ProtocolException | RuntimeException failed) {
      fail(failed);
      return 0;
    }
  }

  private int awaitCompletions(Duration timeout) throws InterruptedException {
    polling = true;
    state.unlock();
    try {
      int polled = timeout.isZero() ? completions.poll() : completions.pollBeforeWait();
      return polled == 0 && channels.awaitReady(timeout) ? completions.poll() : polled;
    } finally {
      state.lock();
      polling = false;
      changed.signalAll();
      completions.release();
    }
  }

  /** If the server has ended the connection, flushes what is after all that arrived before. */
  private void noteEnd() {
    if (client.pollDisconnected() && !closedByServer) {
      closedByServer = true;
      disconnect();
    }
  }

  private void handle(int polled) throws ProtocolException {
    int received = 0;
    for (int i = 0; i < polled; i++) {
      completions.requireSuccess(i);
      switch (completions.opcode(i)) {
        case RECEIVE, RECEIVE_RDMA_WITH_IMMEDIATE -> {
          received(i);
          received++;
        }
        default -> sends.completed(completions.workRequestId(i));
      }
    }
    receives.repost(received);
    receives.release();
    nameBuffer();
  }

  private void received(int completion) throws ProtocolException {
    long bytes = completions.byteLength(completion);
    if (completions.opcode(completion) == CompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE) {
      if (!featuresKnown || serverBuffer.length() == 0) {
        throw new ProtocolException("it wrote " + bytes + " bytes before it knew where to");
      }
      buffer.announce(Integer.toUnsignedLong(completions.immediate(completion)), bytes);
    } else if (bytes != ControlMessage.BYTES || completions.hasImmediate(completion)) {
      throw new ProtocolException(
          "it sent a message of %d bytes, must be %d without immediate data"
              .formatted(bytes, ControlMessage.BYTES));
    } else {
      long message = completions.workRequestId(completion) * ControlMessage.BYTES;
      control(messages.segment().asSlice(message, ControlMessage.BYTES));
    }
  }

  private void control(MemorySegment message) throws ProtocolException {
    int kind = ControlMessage.kind(message);
    if (kind == ControlMessage.REGISTER_XFER_MEMORY) {
      RemoteMemory named = ControlMessage.buffer(message);
      if (named.length() == 0) {
        throw new ProtocolException("it named a buffer of 0 bytes");
      }
      // What is in flight would go to a buffer that the server no longer reads.
      if (serverBufferSpace() > 0) {
        throw new ProtocolException(
            "it named another buffer while %d bytes of the one before were free"
                .formatted(serverBufferSpace()));
      }
      serverBuffer = named;
      serverBufferUsed = 0;
    } else if (kind == ControlMessage.GET_SERVER_FEATURE && !featuresKnown) {
      featuresKnown = true;
    } else if (kind != ControlMessage.KEEPALIVE) {
      throw new ProtocolException("it sent an unexpected message of kind " + kind);
    }
  }

  /**
   * Ends the connection, unless it has ended: the first reason counts.
   *
   * @return an exception of the calling thread for that end
   */
  private IOException fail(Exception cause) {
    IOException first = failure;
    if (first == null) {
      first = new SocketException(reason(cause), cause);
      failure = first;
      changed.signalAll();
      disconnect();
    }
    return new SocketException(first.getMessage(), first);
  }

  private String reason(Exception cause) {
    if (cause instanceof ProtocolException) {
      return server + " violated the protocol of Valkey over RDMA: " + cause.getMessage();
    }
    if (cause instanceof IOException) {
      return String.valueOf(cause.getMessage());
    }
    CompletionStatus status =
        cause instanceof WorkCompletionException request ? request.status() : null;
    boolean flushed = status == CompletionStatus.FLUSHED;
    // Any other status is that of a request which failed by itself, and may be why the server left.
    if (closedByServer
        && (flushed || status == null || status == CompletionStatus.RETRY_EXCEEDED)) {
      return server + ": the server closed the connection";
    }
    return flushed
        ? server + ": the device ended the connection, as it does after a write outside the buffer"
        : server + ": the connection failed: " + cause.getMessage();
  }

  private void throwIfFailed() throws IOException {
    IOException first = failure;
    if (first != null) {
      throw fail(first);
    }
  }

  private void disconnect() {
    try {
      client.id().disconnect();
    } catch (RdmaException | IllegalStateException ended) {
      // It was not connected, or is closed.
    }
  }

  private static ScheduledThreadPoolExecutor ticks() {
    var thread =
        Thread.ofPlatform().daemon().name("rdma4j-valkey").inheritInheritableThreadLocals(false);
    var executor = new ScheduledThreadPoolExecutor(1, thread.factory());
    executor.setRemoveOnCancelPolicy(true);
    executor.setKeepAliveTime(1, TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  private void beginTicks(Object owner) {
    WeakReference<Object> reference = new WeakReference<>(owner);
    ticking = TICKS.scheduleWithFixedDelay(() -> tick(reference), 1, 1, TimeUnit.SECONDS);
  }

  /**
   * Does what has to be done for an idle connection: it handles the keepalives of the server, whose
   * receives would run out, and sends some, which fail if the server is no longer there.
   */
  private void tick(WeakReference<Object> owner) {
    if (owner.refersTo(null)) {
      close();
      return;
    }
    state.lock();
    try {
      int rounds = MAX_ROUNDS;
      while (failure == null && !polling && rounds > 0 && poll(Duration.ZERO) == BATCH) {
        rounds--;
      }
      if (++ticks % TICKS_PER_KEEPALIVE == 0 && failure == null && sends.hasFree()) {
        sends.send(ControlMessage.KEEPALIVE);
      }
    } catch (InterruptedException | RuntimeException failed) {
      fail(failed);
    } finally {
      state.unlock();
    }
  }

  /** Waits a moment until what was written has arrived, disconnects, and closes everything. */
  void close() {
    state.lock();
    try {
      if (failure == null && !sends.areAllFree()) {
        long deadline = System.nanoTime() + CLOSE_TIMEOUT.toNanos();
        await(sends::hasFree, deadline, "no space to send to");
        sends.send(ControlMessage.KEEPALIVE);
        await(sends::areAllFree, deadline, "no acknowledgement from");
      }
    } catch (IOException | RuntimeException lost) {
      // The connection has ended, or the server does not answer any more.
    } finally {
      fail(new SocketException("Socket closed"));
      state.unlock();
    }
    Future<?> last = ticking;
    if (last != null) {
      last.cancel(false);
    }
    close(client, channel, domain, channels);
  }
}
