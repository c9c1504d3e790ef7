package org.rdma4j.connection;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.rdma4j.platform.Deadline;
import org.rdma4j.verbs.AccessFlag;
import org.rdma4j.verbs.MemorySlice;

/**
 * What users of one connection send and ask for: messages, requests, answers, and operations on the
 * memory of the peer. Checks each, and adds it to the {@link SendQueue}.
 *
 * <p>All methods may be called from any thread, without the lock of the connection.
 */
final class Outbox {
  private static final long MAX_BUFFER = 1L << 32;

  /** How long a thread waits for a buffer until it looks whether the connection is still open. */
  private static final long SLICE_NANOS = 100_000_000;

  private final Link link;
  private final DeviceShare share;
  private final ReentrantLock lock;
  private final SendQueue sends;
  private final UserCalls users;
  private final Link.Awaited roomForMessage;
  private final Link.Awaited roomForOperation;
  private int nextMessage;

  /**
   * Creates the outbox of a connection.
   *
   * @param lock the lock of the connection
   */
  Outbox(Link link, ReentrantLock lock, SendQueue sends, UserCalls users) {
    this.link = link;
    this.share = link.share();
    this.lock = lock;
    this.sends = sends;
    this.users = users;
    this.roomForMessage =
        link.awaited(() -> sends.hasRoomForMessage() || link.ending().isUseless());
    this.roomForOperation = link.awaited(() -> sends.hasRoom() || link.ending().isUseless());
  }

  /** Wakes those for which there is room: one of each kind, which wakes the next. */
  void wakeSenders() {
    roomForMessage.wakeNext();
    roomForOperation.wakeNext();
  }

  /** Wakes all threads that wait to send. */
  void wakeAll() {
    roomForMessage.wakeAll();
    roomForOperation.wakeAll();
  }

  /**
   * Waits until a message can be sent at once. Called with the lock; the caller wakes the next
   * afterwards, whether it sends or not.
   */
  private void awaitRoomForMessage(long end, Duration timeout)
      throws InterruptedException, TimeoutException {
    link.ending().checkOutputOpen();
    if (!link.await(roomForMessage, end)) {
      throw link.timedOut("the peer had no free buffer to receive into", timeout);
    }
    link.ending().checkOutputOpen();
  }

  private void awaitRoomForOperation(long end, Duration timeout)
      throws InterruptedException, TimeoutException {
    link.ending().checkCanSend();
    if (!link.await(roomForOperation, end)) {
      throw link.timedOut("none of the outstanding requests completed", timeout);
    }
    link.ending().checkCanSend();
  }

  /** Takes a slot for a message of a given length, and waits if too many are in use. */
  Slot takeSlot(long bytes, Duration timeout) throws InterruptedException, TimeoutException {
    long max = share.config().maxLargeBytes();
    if (bytes < 0 || (bytes > share.buffers().bufferBytes() && bytes > max)) {
      throw new IllegalArgumentException(
          "bytes is %d, must be from 0 to %d, which is NodeConfig.maxLargeBytes"
              .formatted(bytes, max));
    }
    Deadline deadline = Deadline.after(timeout);
    lock.lock();
    try {
      link.ending().checkOpen();
      link.checkMayWait();
    } finally {
      lock.unlock();
    }
    // In slices, because the end of the connection frees no buffer.
    while (true) {
      Slot slot = share.take(bytes, Math.min(deadline.nanos(), SLICE_NANOS));
      if (slot != null) {
        return slot;
      }
      link.checkNotClosed();
      if (deadline.nanos() <= 0) {
        throw link.timedOut("no buffer for %d bytes became free".formatted(bytes), timeout);
      }
    }
  }

  /** Takes a slot for a message of a given length, without waiting. */
  Slot newSlot(long bytes) {
    if (bytes < 0 || bytes > MAX_BUFFER) {
      throw new IllegalArgumentException("bytes is " + bytes + ", must be from 0 to " + MAX_BUFFER);
    }
    link.checkNotClosed();
    return share.take(bytes);
  }

  /** Sends the message in a buffer that the user holds, once the peer has room for it. */
  void send(MessageBuffer buffer, Duration timeout) throws InterruptedException, TimeoutException {
    checkMine(buffer);
    long end = Deadline.after(timeout).end();
    boolean busy;
    lock.lock();
    try {
      link.checkMayWait();
      awaitRoomForMessage(end, timeout);
      addHeld(MessageKind.MESSAGE, 0, buffer, null, 0, null);
      busy = link.flushUnlessBusy();
    } finally {
      roomForMessage.wakeNext();
      lock.unlock();
    }
    if (busy) {
      link.poller().help();
    }
  }

  /** Sends a copy of a message that fits into one slot, once the peer has room for it. */
  void sendCopy(ByteBuffer message, Duration timeout)
      throws InterruptedException, TimeoutException {
    long end = Deadline.after(timeout).end();
    boolean isLong = message.remaining() > eagerBytes();
    // If there is a slot, it is taken without the lock: what takeSlot checks is checked below.
    Slot slot = isLong ? newSlot(message.remaining()) : share.buffers().tryTake();
    if (slot == null) {
      slot = takeSlot(message.remaining(), timeout);
    }
    boolean sent = false;
    boolean busy = false;
    try {
      slot.fill(MessageKind.MESSAGE, message);
      lock.lock();
      try {
        link.checkMayWait();
        awaitRoomForMessage(end, timeout);
        add(MessageKind.MESSAGE, 0, slot, null, 0, null);
        sent = true;
        busy = link.flushUnlessBusy();
      } finally {
        roomForMessage.wakeNext();
        lock.unlock();
      }
    } finally {
      if (!sent) {
        slot.free();
      }
    }
    if (busy) {
      link.poller().help();
    }
  }

  /** Sends the message in a buffer that the user holds, as soon as the peer has room for it. */
  void sendHeld(
      MessageBuffer buffer,
      @Nullable OperationHandler handler,
      long token,
      @Nullable CompletableFuture<Void> future) {
    checkMine(buffer);
    lock.lock();
    try {
      link.ending().checkOutputOpen();
      addHeld(MessageKind.MESSAGE, 0, buffer, handler, token, future);
      link.flushAndLeave();
    } finally {
      lock.unlock();
    }
  }

  /** Sends a copy of a message, as soon as the peer has room for it. */
  void sendCopyAsync(
      ByteBuffer message,
      @Nullable OperationHandler handler,
      long token,
      @Nullable CompletableFuture<Void> future) {
    checkLength(message.remaining());
    Slot slot = newSlot(message.remaining());
    boolean sent = false;
    try {
      slot.fill(MessageKind.MESSAGE, message);
      lock.lock();
      try {
        link.ending().checkOutputOpen();
        add(MessageKind.MESSAGE, 0, slot, handler, token, future);
        sent = true;
        link.flushAndLeave();
      } finally {
        lock.unlock();
      }
    } finally {
      if (!sent) {
        slot.free();
      }
    }
  }

  /** Sends the message in a buffer if the peer has room for it now. */
  boolean trySend(MessageBuffer buffer) {
    checkMine(buffer);
    lock.lock();
    try {
      link.ending().checkOutputOpen();
      if (!sends.hasRoomForMessage()) {
        return false;
      }
      addHeld(MessageKind.MESSAGE, 0, buffer, null, 0, null);
      link.flushUnlessBusy();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void checkMine(MessageBuffer buffer) {
    if (!buffer.slot().region().domain().equals(share.domain())) {
      throw new IllegalArgumentException(
          "the buffer belongs to another node or device; copy the message to a buffer of this"
              + " connection");
    }
    checkLength(buffer.length());
  }

  void checkLength(long bytes) {
    if (bytes > link.peer().maxMessageBytes()) {
      throw new IllegalArgumentException(
          "the length of the message is %d, must be at most %d, which is what the peer receives"
              .formatted(bytes, link.peer().maxMessageBytes()));
    }
  }

  /** Returns the length of the longest message that is sent into a posted buffer of the peer. */
  int eagerBytes() {
    return Math.min(link.peer().bufferBytes(), share.buffers().bufferBytes());
  }

  private Slot takeFromUser(MessageBuffer buffer) {
    Slot slot = buffer.take();
    Link from = slot.leavePlace();
    if (from == link) {
      link.freePlace(slot);
    } else if (from != null) {
      // The lock of another connection must not be taken with this one.
      share.node().later(() -> from.placeFreed(slot));
    }
    return slot;
  }

  /** Adds what is in a buffer of the user. If that fails, the buffer is closed. */
  private void addHeld(
      MessageKind kind,
      long number,
      MessageBuffer buffer,
      @Nullable OperationHandler handler,
      long token,
      @Nullable CompletableFuture<Void> future) {
    Slot slot = takeFromUser(buffer);
    boolean added = false;
    try {
      add(kind, number, slot, handler, token, future);
      added = true;
    } finally {
      if (!added) {
        slot.free();
      }
    }
  }

  /** Adds a message of the user: as it is, or as an offer if it is too long. */
  private void add(
      MessageKind kind,
      long number,
      Slot buffer,
      @Nullable OperationHandler handler,
      long token,
      @Nullable CompletableFuture<Void> future) {
    Outgoing request;
    if (buffer.length() > eagerBytes()) {
      request = newOffer(buffer.messageMemory());
      request.offered = buffer;
    } else {
      request = sends.newRequest();
      request.buffer = buffer;
    }
    request.kind = kind;
    request.number = number;
    request.handler = handler;
    request.token = token;
    request.future = future;
    sends.add(request);
  }

  private Outgoing newOffer(MemorySlice message) {
    return newOffer(nextMessage++, message.length(), 0, message);
  }

  /** Returns a request that offers the peer a piece of a message. */
  private Outgoing newOffer(int message, long total, long offset, MemorySlice piece) {
    Offer offer =
        new Offer(
            message,
            total,
            offset,
            piece.length(),
            piece.remoteAddress(),
            piece.region().remoteKey());
    Slot carrier = share.buffers().take();
    carrier.fill(MessageKind.MESSAGE, offer.write());
    Outgoing request = sends.newRequest();
    request.flags = MessageHeader.OFFER;
    request.buffer = carrier;
    return request;
  }

  /** Sends memory of the user, which the peer fetches. */
  void sendMemory(MemorySlice memory, CompletableFuture<Void> future) {
    checkLength(memory.length());
    checkLocal(memory, AccessFlag.REMOTE_READ, "to be fetched by the peer");
    lock.lock();
    try {
      link.ending().checkOutputOpen();
      Outgoing request = newOffer(memory);
      request.local = memory;
      request.future = future;
      sends.add(request);
      link.flushAndLeave();
    } finally {
      lock.unlock();
    }
  }

  /** Sends a piece of a message of heap memory. Gives its slot back if that is refused. */
  CompletableFuture<Void> sendPiece(Slot piece, int message, long total, long offset) {
    CompletableFuture<Void> fetched = new CompletableFuture<>();
    boolean sent = false;
    lock.lock();
    try {
      link.ending().checkOutputOpen();
      Outgoing request = newOffer(message, total, offset, piece.messageMemory());
      request.offered = piece;
      request.future = fetched;
      sends.add(request);
      sent = true;
      link.flushAndLeave();
    } finally {
      lock.unlock();
      if (!sent) {
        piece.free();
      }
    }
    return fetched;
  }

  /** Returns the number of a message that is sent in pieces. */
  int newMessageNumber() {
    lock.lock();
    try {
      return nextMessage++;
    } finally {
      lock.unlock();
    }
  }

  void checkLocal(MemorySlice local, AccessFlag needed, String purpose) {
    checkDomain(local);
    if (!local.region().access().contains(needed)) {
      throw new IllegalArgumentException(
          "%s has the access %s, must have %s %s"
              .formatted(local.region(), local.region().access(), needed, purpose));
    }
  }

  void checkDomain(MemorySlice local) {
    if (!local.region().domain().equals(share.domain())) {
      throw new IllegalArgumentException(
          local.region()
              + " belongs to another domain than the connection: register it with"
              + " RdmaConnection.register or RdmaNode.register");
    }
    local.region().checkOpen();
  }

  /** Returns a request to be filled for {@link #operate} or {@link #operateAndWait}. */
  Outgoing newRequest() {
    lock.lock();
    try {
      return sends.newRequest();
    } finally {
      lock.unlock();
    }
  }

  /** Returns a message that notifies the peer of a write, which goes before it. */
  Outgoing newNotice(Outgoing write, long notice) {
    Outgoing message = newRequest();
    message.kind = MessageKind.NOTICE;
    message.number = notice;
    message.write = write;
    return message;
  }

  /** Adds an operation, of whose end a handler or a future is notified. */
  void operate(Outgoing filled) {
    lock.lock();
    try {
      checkMayAdd(filled);
      addOperation(filled);
      link.flushAndLeave();
    } finally {
      lock.unlock();
    }
  }

  private void checkMayAdd(Outgoing operation) {
    if (operation.takesCredit()) {
      link.ending().checkOutputOpen();
    } else {
      link.ending().checkCanSend();
    }
  }

  private void addOperation(Outgoing operation) {
    Outgoing write = operation.write;
    if (write != null) {
      Slot empty = share.buffers().take();
      empty.become(MessageKind.NOTICE, 0, 0, null);
      operation.buffer = empty;
      operation.write = null;
      sends.add(write);
    }
    sends.add(operation);
  }

  /**
   * Adds an operation and waits until it is done. If the time is over before that, the operation
   * goes on.
   */
  void operateAndWait(Outgoing request, Duration timeout)
      throws InterruptedException, TimeoutException {
    long end = Deadline.after(timeout).end();
    lock.lock();
    try {
      link.checkMayWait();
      if (request.takesCredit()) {
        awaitRoomForMessage(end, timeout);
      } else {
        awaitRoomForOperation(end, timeout);
      }
      Condition done = lock.newCondition();
      request.awaited = done;
      addOperation(request);
      link.flush();
      try {
        link.await(link.new Awaited(done, () -> request.done || link.ending().isClosing()), end);
      } finally {
        if (!request.done) {
          // It is recycled when it is done.
          request.awaited = null;
        }
      }
      if (!request.done) {
        link.ending().checkOpen();
        throw link.timedOut("the operation did not complete", timeout);
      }
      RuntimeException failed = request.failure;
      sends.recycle(request);
      if (failed != null) {
        throw failed;
      }
    } finally {
      wakeSenders();
      lock.unlock();
    }
  }

  /** Breaks the connection after a part of a message was sent. */
  void abandonMessage() {
    lock.lock();
    try {
      link.ending().breakUp("a message was sent only in part", null);
    } finally {
      lock.unlock();
    }
  }

  /** Sends a request to the peer's {@link RequestHandler}. */
  CompletableFuture<MessageBuffer> request(MessageBuffer buffer) {
    checkMine(buffer);
    CompletableFuture<MessageBuffer> answer = new CompletableFuture<>();
    lock.lock();
    try {
      link.ending().checkOutputOpen();
      Slot slot = takeFromUser(buffer);
      add(MessageKind.REQUEST, users.addRequest(answer), slot, null, 0, null);
      link.flushAndLeave();
    } finally {
      lock.unlock();
    }
    return answer;
  }

  /** Sends an answer, or the reason why there is none. */
  void answer(MessageKind kind, long number, MessageBuffer buffer) {
    checkMine(buffer);
    lock.lock();
    try {
      link.ending().checkCanSend();
      addHeld(kind, number, buffer, null, 0, null);
      link.flushUnlessBusy();
    } finally {
      lock.unlock();
    }
  }
}
