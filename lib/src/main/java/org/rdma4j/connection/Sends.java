package org.rdma4j.connection;

import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.ReceiveWindow;
import org.rdma4j.connection.session.Request;
import org.rdma4j.connection.session.Session;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.MemorySlice;

/**
 * The messages that users of one connection send, with requests and answers. Checks each, and adds
 * it to the session.
 *
 * <p>All methods may be called from any thread, without the lock of the connection.
 */
final class Sends {
  private static final long MAX_BUFFER = 1L << 32;

  /** How long a thread waits for a buffer until it looks whether the connection is still open. */
  private static final long SLICE_NANOS = 100_000_000;

  /** How long a thread that drives the node does that until it looks for a buffer. */
  private static final long DRIVE_NANOS = 1_000_000;

  private final Link link;
  private final DeviceShare share;
  private final Session session;
  private final Offers offers;
  private final Awaited roomForMessage;
  private int nextMessage;

  Sends(Link link, Session session) {
    this.link = link;
    this.share = link.share();
    this.session = session;
    this.offers =
        new Offers(session, share.exposures(), share.buffers(), link.queuePair(), link::ending);
    this.roomForMessage =
        link.waits().until(() -> session.hasRoomForMessage() || session.lifecycle().isUseless());
  }

  /** Wakes a thread for which there is room, which wakes the next. */
  void wakeNext() {
    roomForMessage.wakeNext();
  }

  /** Wakes all threads that wait to send. */
  void wakeAll() {
    roomForMessage.wakeAll();
  }

  /**
   * Waits until a message can be sent immediately. Called with the lock; the caller wakes the next
   * afterwards, whether it sends or not.
   */
  void awaitRoomForMessage(long end, Duration timeout)
      throws InterruptedException, TimeoutException {
    session.lifecycle().checkOutputOpen();
    if (!link.waits().await(roomForMessage, end)) {
      throw link.waits().timedOut("the peer had no free buffer to receive into", timeout);
    }
    session.lifecycle().checkOutputOpen();
  }

  /** Takes a buffer for a message of a given length, and waits if too many are in use. */
  Buffer takeBuffer(long bytes, Duration timeout) throws InterruptedException, TimeoutException {
    long max = share.config().maxLargeBytes();
    if (bytes < 0 || (bytes > share.buffers().bufferBytes() && bytes > max)) {
      throw new IllegalArgumentException(
          "bytes is %d, must be from 0 to %d, which is NodeConfig.maxLargeBytes"
              .formatted(bytes, max));
    }
    Deadline deadline = Deadline.after(timeout);
    link.checkNotClosed();
    link.waits().checkAllowed();
    // In slices, because the end of the connection frees no buffer.
    Loop loop = link.poller().loop();
    boolean drives = loop.mayDrive();
    long slice = drives ? 0 : SLICE_NANOS;
    while (true) {
      Buffer taken = share.take(bytes, Math.min(deadline.nanos(), slice));
      if (taken != null) {
        return taken;
      }
      if (drives) {
        loop.driveUntil(System.nanoTime() + DRIVE_NANOS, () -> false);
      }
      link.checkNotClosed();
      if (deadline.nanos() <= 0) {
        throw link.waits().timedOut("no buffer for %d bytes became free".formatted(bytes), timeout);
      }
    }
  }

  /** Takes a buffer for a message of a given length, without waiting. */
  Buffer newBuffer(long bytes) {
    if (bytes < 0 || bytes > MAX_BUFFER) {
      throw new IllegalArgumentException("bytes is " + bytes + ", must be from 0 to " + MAX_BUFFER);
    }
    link.checkNotClosed();
    return share.take(bytes);
  }

  /**
   * Takes a buffer that the caller fills, without waiting. If a short one is free, this does not
   * take the lock: the caller does, and checks then what {@link #newBuffer} checks.
   */
  private Buffer bufferForCopy(int bytes) {
    Buffer free = bytes > session.shortBytes() ? null : share.buffers().tryTake();
    return free == null ? newBuffer(bytes) : free;
  }

  /** Sends the message in a buffer that the user holds, once the peer has room for it. */
  void send(MessageBuffer message, Duration timeout) throws InterruptedException, TimeoutException {
    checkMine(message);
    long end = Deadline.after(timeout).end();
    boolean busy;
    link.lock();
    try {
      link.waits().checkAllowed();
      awaitRoomForMessage(end, timeout);
      addHeld(MessageKind.MESSAGE, 0, message, null, 0);
      busy = link.flushUnlessBusy();
    } finally {
      roomForMessage.wakeNext();
      link.unlock();
    }
    if (busy) {
      link.poller().help();
    }
  }

  /** Sends a copy of a message that fits into one buffer, once the peer has room for it. */
  void sendCopy(ByteBuffer message, Duration timeout)
      throws InterruptedException, TimeoutException {
    long end = Deadline.after(timeout).end();
    if (session.isJoinable() && joins(message)) {
      return;
    }
    boolean isLong = message.remaining() > session.shortBytes();
    // If there is a buffer, it is taken without the lock: what takeBuffer checks is checked below.
    Buffer buffer = isLong ? newBuffer(message.remaining()) : share.buffers().tryTake();
    if (buffer == null) {
      buffer = takeBuffer(message.remaining(), timeout);
    }
    boolean sent = false;
    boolean busy = false;
    try {
      buffer.fill(MessageKind.MESSAGE, message);
      link.lock();
      try {
        link.waits().checkAllowed();
        awaitRoomForMessage(end, timeout);
        addCopy(buffer, null, 0);
        sent = true;
        busy = link.flushUnlessBusy();
      } finally {
        roomForMessage.wakeNext();
        link.unlock();
      }
    } finally {
      if (!sent) {
        buffer.free();
      }
    }
    if (busy) {
      link.poller().help();
    }
  }

  /** Lets a copy of a message join a message that is about to be sent; returns whether it has. */
  private boolean joins(ByteBuffer message) {
    link.lock();
    try {
      link.waits().checkAllowed();
      session.lifecycle().checkOutputOpen();
      return session.tryJoin(message, true, null, 0);
    } finally {
      link.unlock();
    }
  }

  /**
   * Sends the message in a buffer that the user holds, as soon as the peer has room for it.
   *
   * @param listener a handler, or a future
   */
  void sendHeld(MessageBuffer message, Object listener, long token) {
    checkMine(message);
    link.lock();
    try {
      session.lifecycle().checkOutputOpen();
      addHeld(MessageKind.MESSAGE, 0, message, listener, token);
      link.flushAndLeave();
    } finally {
      link.unlock();
    }
  }

  /**
   * Sends a copy of a message, as soon as the peer has room for it.
   *
   * @param listener a handler, or a future
   */
  void sendCopyAsync(ByteBuffer message, Object listener, long token) {
    checkLength(message.remaining());
    if (!session.isJoinable() || !joinsLater(message, listener, token)) {
      var unused = addCopy(message, false, listener, token);
    }
    link.poller().attend();
  }

  /** Lets a copy of a message join a message that is sent soon; returns whether it has. */
  private boolean joinsLater(ByteBuffer message, Object listener, long token) {
    link.lock();
    try {
      session.lifecycle().checkOutputOpen();
      return session.tryJoin(message, false, listener, token);
    } finally {
      link.unlock();
    }
  }

  /** Sends a copy of a message if the peer has room for it now. */
  boolean trySendCopy(ByteBuffer message) {
    checkLength(message.remaining());
    link.lock();
    try {
      // First, because a caller that tries again and again must not copy each time.
      session.lifecycle().checkOutputOpen();
      if (session.tryJoin(message, true, null, 0)) {
        return true;
      }
      if (!session.hasRoomForMessage()) {
        return false;
      }
    } finally {
      link.unlock();
    }
    return addCopy(message, true, null, 0);
  }

  /**
   * Adds a copy of a message, without waiting.
   *
   * @param now whether to add it only if the peer has room for it now
   * @return whether it was added
   */
  private boolean addCopy(ByteBuffer message, boolean now, @Nullable Object listener, long token) {
    Buffer buffer = bufferForCopy(message.remaining());
    boolean added = false;
    try {
      buffer.fill(MessageKind.MESSAGE, message);
      link.lock();
      try {
        session.lifecycle().checkOutputOpen();
        if (!now || session.hasRoomForMessage()) {
          addCopy(buffer, listener, token);
          added = true;
          link.flushUnlessBusy();
        }
      } finally {
        link.unlock();
      }
    } finally {
      if (!added) {
        buffer.free();
      }
    }
    return added;
  }

  /** Sends the message in a buffer if the peer has room for it now. */
  boolean trySend(MessageBuffer message) {
    checkMine(message);
    link.lock();
    try {
      session.lifecycle().checkOutputOpen();
      if (!session.hasRoomForMessage()) {
        return false;
      }
      addHeld(MessageKind.MESSAGE, 0, message, null, 0);
      link.flushUnlessBusy();
      return true;
    } finally {
      link.unlock();
    }
  }

  private void checkMine(MessageBuffer message) {
    if (!BufferRegion.of(message.buffer()).domain().equals(share.domain())) {
      throw new IllegalArgumentException(
          "the buffer belongs to another node or device; copy the message to a buffer of this"
              + " connection");
    }
    checkLength(message.length());
  }

  void checkLength(long bytes) {
    if (bytes > link.peer().maxMessageBytes()) {
      throw new IllegalArgumentException(
          "the length of the message is %d, must be at most %d, which is what the peer receives"
              .formatted(bytes, link.peer().maxMessageBytes()));
    }
  }

  /** Returns the length of the longest message that is sent into a posted buffer of the peer. */
  int shortBytes() {
    return session.shortBytes();
  }

  /** Adds what is in a buffer of the user, who still holds it if this throws. */
  private void addHeld(
      MessageKind kind, long number, MessageBuffer message, @Nullable Object listener, long token) {
    Buffer buffer = message.take();
    boolean added = false;
    try {
      add(kind, number, buffer, listener, token);
      added = true;
    } finally {
      if (!added) {
        message.giveBackToUser();
      }
    }
    ReceiveWindow from = buffer.leaveWindow();
    if (link.window().equals(from)) {
      link.receives().leftHere(buffer);
    } else if (from != null) {
      // The lock of another connection must not be taken with this one.
      link.later(() -> from.left(buffer));
    }
  }

  /** Adds a copy of a message, which others may join while it waits. */
  private void addCopy(Buffer buffer, @Nullable Object listener, long token) {
    if (buffer.length() > session.shortBytes()) {
      add(MessageKind.MESSAGE, 0, buffer, listener, token);
    } else {
      Request request = shortMessage(MessageKind.MESSAGE, 0, buffer, listener, token);
      request.joinable();
      session.add(request);
    }
  }

  /** Adds a message of the user: unchanged, or as an offer if it is too long. */
  private void add(
      MessageKind kind, long number, Buffer buffer, @Nullable Object listener, long token) {
    if (buffer.length() > session.shortBytes()) {
      boolean isAnswer = isAnswer(kind, buffer);
      offers.add(
          kind, number, buffer, nextMessage++, buffer.length(), 0, isAnswer, listener, token);
    } else {
      session.add(shortMessage(kind, number, buffer, listener, token));
    }
  }

  private Request shortMessage(
      MessageKind kind, long number, Buffer buffer, @Nullable Object listener, long token) {
    Request request = session.newRequest();
    request.send(kind, 0, number, buffer);
    request.tell(listener, token);
    request.isAnswer(isAnswer(kind, buffer));
    return request;
  }

  /** Returns whether a handler sends a message, or it is one of a peer, which is sent on. */
  private boolean isAnswer(MessageKind kind, Buffer message) {
    return kind == MessageKind.ANSWER
        || kind == MessageKind.REFUSAL
        || message.hasArrived()
        || link.isHandler();
  }

  /** Sends memory of the user, which the peer fetches. */
  void sendMemory(MemorySlice memory, CompletableFuture<Void> future) {
    checkLength(memory.length());
    link.operations().checkDomain(memory);
    link.lock();
    try {
      session.lifecycle().checkOutputOpen();
      offers.addMemory(nextMessage++, memory, link.isHandler(), future);
      link.flushAndLeave();
    } finally {
      link.unlock();
    }
  }

  /** Sends a piece of a message of heap memory. Gives its buffer back if that is refused. */
  CompletableFuture<Void> sendPiece(Buffer piece, int message, long total, long offset) {
    CompletableFuture<Void> fetched = new CompletableFuture<>();
    boolean sent = false;
    link.lock();
    try {
      session.lifecycle().checkOutputOpen();
      boolean isAnswer = isAnswer(MessageKind.MESSAGE, piece);
      offers.add(MessageKind.MESSAGE, 0, piece, message, total, offset, isAnswer, fetched, 0);
      sent = true;
      link.flushAndLeave();
    } finally {
      link.unlock();
      if (!sent) {
        piece.free();
      }
    }
    return fetched;
  }

  /** Returns the number of a message that is sent in pieces. */
  int newMessageNumber() {
    link.lock();
    try {
      return nextMessage++;
    } finally {
      link.unlock();
    }
  }

  /** Breaks the connection because only a part of a message was sent. */
  void abandonMessage() {
    link.lock();
    try {
      session.lost("a message was sent only in part", null);
    } finally {
      link.unlock();
    }
  }

  /** Sends a request to the peer's {@link RequestHandler}. */
  CompletableFuture<MessageBuffer> request(MessageBuffer message) {
    checkMine(message);
    CompletableFuture<MessageBuffer> answer = new CompletableFuture<>();
    long number;
    link.lock();
    try {
      session.lifecycle().checkOutputOpen();
      number = session.addPending(answer);
      boolean added = false;
      try {
        addHeld(MessageKind.REQUEST, number, message, null, 0);
        added = true;
      } finally {
        if (!added) {
          session.cancelPending(number);
        }
      }
      link.flushAndLeave();
    } finally {
      link.unlock();
    }
    var unused =
        answer.whenComplete(
            (received, failed) -> {
              if (failed != null) {
                cancelRequest(number);
              }
            });
    return answer;
  }

  /** Notifies the peer that the program has given up a request, unless it was answered. */
  private void cancelRequest(long number) {
    link.lock();
    try {
      if (session.cancelRequest(number)) {
        link.flushAndLeave();
      }
    } catch (RdmaException noMemory) {
      link.log(Level.DEBUG, "the peer is not notified of a cancelled request", noMemory);
    } finally {
      link.unlock();
    }
  }

  /** Returns whether the peer has cancelled a request, and it was not answered. */
  boolean isCancelled(long number) {
    link.lock();
    try {
      return session.isCancelled(number);
    } finally {
      link.unlock();
    }
  }

  /** Sends an answer, or the reason why there is none. */
  void answer(MessageKind kind, long number, MessageBuffer message) {
    checkMine(message);
    link.lock();
    try {
      session.lifecycle().checkCanSend();
      addHeld(kind, number, message, null, 0);
      link.flushUnlessBusy();
    } finally {
      link.unlock();
    }
  }

  /** Notifies the peer that this side sends nothing more. */
  void endOutput() {
    link.lock();
    try {
      session.endOutput();
      link.flush();
    } finally {
      link.unlock();
    }
  }
}
