package org.rdma4j.valkey;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.cm.CmId;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.CompletionChannel;
import org.rdma4j.verbs.CompletionOpcode;
import org.rdma4j.verbs.CompletionQueue;
import org.rdma4j.verbs.CompletionStatus;
import org.rdma4j.verbs.Completions;
import org.rdma4j.verbs.MemoryRegion;
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
 * to another connection. No thread belongs to it. A thread that has to wait takes the turn of
 * polling if no other thread has it, and handles the completions for all; the others wait until it
 * has handled some. Order of locks: state, then turn, which is only tried while state is held.
 */
final class ValkeyLink {
  /** Messages that the server may send before this side polls; the protocol recommends 1024. */
  private static final int RECEIVES = 1024;

  private static final int BATCH = 64;
  private static final int MAX_ROUNDS = 32;
  private static final int TICKS_PER_KEEPALIVE = 3;
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

  private final InetSocketAddress server;
  private final CmId id;
  private final ProtectionDomain domain;
  private final CompletionChannel channel;
  private final Completions completions;
  private final MemoryRegion messages;
  private final ReceiveRequests receives;
  private final SendSlots sends;
  private final ReceiveBuffer buffer;

  private final ReentrantLock state = new ReentrantLock();
  private final Condition changed = state.newCondition();
  private final ReentrantLock turn = new ReentrantLock();

  // Created once, so that a read and a write create no object.
  private final BooleanSupplier mayRead = this::mayRead;
  private final BooleanSupplier mayWrite = this::mayWrite;

  // Guarded by state, as are the sends, the receives and the buffer.
  private @Nullable RemoteMemory serverBuffer;
  private long serverBufferUsed;
  private boolean featuresKnown;
  private boolean bufferUnnamed;
  private @Nullable String endReason;
  private @Nullable IOException failure;
  private boolean closing;
  private int ticks;

  /** Creates what the identifier, whose route is resolved, needs to connect. */
  ValkeyLink(InetSocketAddress server, CmId id, int receiveBytes, int sendBytes) {
    this.server = server;
    this.id = id;
    domain = id.device().allocateProtectionDomain();
    CompletionChannel events = null;
    try {
      events = id.device().createCompletionChannel();
      CompletionQueue queue = id.device().createCompletionQueue(RECEIVES + SendSlots.COUNT, events);
      channel = events;
      completions = queue.completions(BATCH);
      messages = domain.register(RECEIVES * ControlMessage.BYTES, AccessFlag.LOCAL_WRITE);
      QueuePair queuePair =
          id.createQueuePair(
              domain,
              QueuePairConfig.reliable(queue).sendDepth(SendSlots.COUNT).receiveDepth(RECEIVES));
      sends = new SendSlots(queuePair, domain.register(sendBytes));
      buffer =
          new ReceiveBuffer(
              domain.register(receiveBytes, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
      receives = queuePair.receiveRequests(RECEIVES);
      for (int i = 0; i < RECEIVES; i++) {
        addReceive(i);
      }
      postReceives();
    } catch (RuntimeException failed) {
      domain.close();
      if (events != null) {
        events.close();
      }
      throw failed;
    }
  }

  CmId id() {
    return id;
  }

  /** Asks for the server's features, of which this side uses none, and names the buffer. */
  void exchangeFeatures(long deadline) throws IOException {
    state.lock();
    try {
      send(() -> sends.send(ControlMessage.GET_SERVER_FEATURE));
      await(() -> featuresKnown && serverBuffer != null, deadline, "no answer from");
      send(() -> sends.send(ControlMessage.SET_CLIENT_FEATURE));
      send(() -> sends.send(buffer.name()));
    } finally {
      state.unlock();
    }
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
      await(mayRead, deadline, "no bytes from");
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

  private boolean mayRead() {
    return buffer.available() > 0;
  }

  private boolean mayWrite() {
    return sends.hasFree() && serverBufferSpace() > 0;
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
      try {
        await(mayWrite, deadline, "no space in the buffer of");
      } catch (SocketTimeoutException late) {
        // The server has a part of what the program wrote, and would take the next for the rest.
        fail(late);
        throw late;
      }
      int most = (int) Math.min(length, serverBufferSpace());
      RemoteMemory target = serverBuffer;
      if (failure != null || target == null) {
        throw failure();
      }
      int written = post(source, offset, most, target);
      serverBufferUsed += written;
      return written;
    } finally {
      state.unlock();
    }
  }

  private int post(byte[] source, int offset, int most, RemoteMemory target) throws IOException {
    try {
      return sends.write(source, offset, most, target, serverBufferUsed);
    } catch (RuntimeException failed) {
      fail(failed);
      throw failure();
    }
  }

  private long serverBufferSpace() {
    return serverBuffer == null ? 0 : serverBuffer.length() - serverBufferUsed;
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

  private void send(Runnable post) throws IOException {
    try {
      post.run();
    } catch (RuntimeException failed) {
      fail(failed);
      throw failure();
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
        if (failure != null) {
          throw failure();
        }
        long nanos = deadline - System.nanoTime();
        if (nanos <= 0) {
          throw new SocketTimeoutException("timed out: %s %s".formatted(missing, server));
        }
        try {
          if (turn.tryLock()) {
            poll(Duration.ofNanos(nanos));
          } else {
            changed.awaitNanos(nanos);
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

  /** Waits for completions, with the turn and without the state, and handles them. */
  private void poll(Duration timeout) throws InterruptedException {
    int polled = 0;
    RuntimeException failed = null;
    state.unlock();
    try {
      polled = timeout.isZero() ? completions.poll() : completions.await(timeout);
    } catch (RuntimeException refused) {
      failed = refused;
    } finally {
      state.lock();
      try {
        handle(polled);
        if (failed != null) {
          fail(failed);
        }
        completions.release();
      } catch (RuntimeException refused) {
        fail(refused);
      } finally {
        turn.unlock();
        changed.signalAll();
      }
    }
  }

  private void handle(int polled) {
    try {
      for (int i = 0; i < polled; i++) {
        completions.requireSuccess(i);
        long request = completions.workRequestId(i);
        if (request >= 0) {
          sends.completed(request);
        } else {
          received(i, (int) (-1 - request));
          addReceive((int) (-1 - request));
        }
      }
      postReceives();
    } catch (ProtocolException lie) {
      fail(
          new ProtocolException(
              "%s violated the protocol of Valkey over RDMA: %s"
                  .formatted(server, lie.getMessage())));
    } catch (RuntimeException failed) {
      fail(failed);
    }
    nameBuffer();
  }

  private void received(int completion, int message) throws ProtocolException {
    CompletionOpcode opcode = completions.opcode(completion);
    long bytes = completions.byteLength(completion);
    if (opcode == CompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE) {
      if (!featuresKnown || serverBuffer == null) {
        throw new ProtocolException("it wrote " + bytes + " bytes before it knew where to");
      }
      buffer.announce(Integer.toUnsignedLong(completions.immediate(completion)), bytes);
    } else if (bytes != ControlMessage.BYTES || completions.hasImmediate(completion)) {
      throw new ProtocolException(
          "it sent a message of %d bytes, must be %d without immediate data"
              .formatted(bytes, ControlMessage.BYTES));
    } else {
      control(
          messages.segment().asSlice((long) message * ControlMessage.BYTES, ControlMessage.BYTES));
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

  private void addReceive(int message) {
    receives
        .add(-1 - message)
        .into(messages, (long) message * ControlMessage.BYTES, ControlMessage.BYTES);
  }

  private void postReceives() {
    try {
      receives.post();
    } finally {
      receives.clear();
      receives.release();
    }
  }

  private void fail(RuntimeException cause) {
    String reason = "the connection failed: " + cause.getMessage();
    // A request that failed by itself is the reason of an end that was reported first.
    if (!(cause instanceof WorkCompletionException failed)) {
      reason = endReason == null ? reason : endReason;
    } else if (failed.status() == CompletionStatus.FLUSHED) {
      reason =
          endReason == null
              ? "the device ended the connection, as it does after a write outside the buffer"
              : endReason;
    }
    SocketException ended = new SocketException(server + ": " + reason);
    ended.initCause(cause);
    fail(ended);
  }

  /** Ends the connection, unless it has ended: the first reason counts. */
  private void fail(IOException reason) {
    if (failure == null) {
      failure = reason;
      changed.signalAll();
      disconnect();
    }
  }

  private void disconnect() {
    try {
      id.disconnect();
    } catch (RdmaException | IllegalStateException ended) {
      // It was not connected, or is closed.
    }
  }

  /** Returns an exception of the calling thread for the end of the connection. */
  private IOException failure() {
    IOException first = failure;
    SocketException again =
        new SocketException(first == null ? "Socket closed" : String.valueOf(first.getMessage()));
    if (first != null) {
      again.initCause(first);
    }
    return again;
  }

  /**
   * Records that the connection manager reported the end. The queue pair is flushed, so that
   * threads find out, after all that arrived before.
   */
  void ended(String reason) {
    state.lock();
    try {
      if (endReason == null) {
        endReason = reason;
      }
    } finally {
      state.unlock();
    }
    disconnect();
  }

  /**
   * Does what has to be done for an idle connection: it handles the keepalives of the server, whose
   * receives would run out, and sends some, which fail if the server is no longer there.
   */
  void tick() {
    state.lock();
    try {
      for (int i = 0; i < MAX_ROUNDS && failure == null && turn.tryLock(); i++) {
        poll(Duration.ZERO);
        if (completions.size() < BATCH) {
          break;
        }
      }
      if (++ticks % TICKS_PER_KEEPALIVE == 0 && failure == null && sends.hasFree()) {
        sends.send(ControlMessage.KEEPALIVE);
      }
    } catch (InterruptedException | RuntimeException failed) {
      fail(new SocketException("the connection to " + server + " failed: " + failed));
    } finally {
      state.unlock();
    }
  }

  /** Waits a moment until what was written has arrived, disconnects, and closes everything. */
  void close() {
    state.lock();
    try {
      if (closing) {
        return;
      }
      closing = true;
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
    try {
      id.close();
    } finally {
      closeRest();
    }
  }

  /** Closes the channel with its queue, and the domain, also if one of them fails. */
  private void closeRest() {
    try {
      channel.close();
    } finally {
      domain.close();
    }
  }
}
