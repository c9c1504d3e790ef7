package org.rdma4j.connection;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.rdma4j.RdmaException;
import org.rdma4j.platform.Deadline;
import org.rdma4j.platform.Range;
import org.rdma4j.platform.SharedPolling.Waiters;
import org.rdma4j.verbs.MemorySlice;

/**
 * The messages of one connection, in both directions. A message needs a buffer and a credit; the
 * receive of a message that has arrived and been closed is posted again, for which the peer gets a
 * credit back.
 */
final class Messages {
  private final ConnectionState state;
  private final ConnectionQueues queues;
  private final Buffers buffers;
  private final Hello peer;
  private final Credits credits;
  private final Deque<MessageBuffer> arrived = new ArrayDeque<>();
  private final Waiters forArrival;
  private final Waiters forCredit;
  private final Waiters forBuffer;

  /** The number of messages that were sent and are not acknowledged. */
  private int sending;

  /** The number of messages of the protocol itself that are not acknowledged. */
  private int controls;

  Messages(ConnectionState state, ConnectionQueues queues, ConnectionConfig config, Hello peer) {
    this.state = state;
    this.queues = queues;
    this.buffers = queues.buffers();
    this.peer = peer;
    this.credits = new Credits(config.receives(), peer.receives());
    this.forArrival = state.newWaiters();
    this.forCredit = state.newWaiters();
    this.forBuffer = state.newWaiters();
  }

  /** Returns the length of the longest message that the peer receives, in bytes. */
  int maxBytes() {
    return peer.messageBytes();
  }

  /** Waits for a free buffer to send from, and takes it. */
  MessageBuffer takeBuffer(Deadline deadline) throws InterruptedException, TimeoutException {
    state.lock();
    try {
      state.awaitUsable(forBuffer, buffers::hasFree, deadline, "no buffer became free");
      int slot = buffers.take();
      return new MessageBuffer(this, slot, buffers.memory(slot), buffers.slotBytes());
    } finally {
      state.unlock();
    }
  }

  /** Waits for a credit, and sends the message in a buffer. */
  void send(MessageBuffer buffer, Deadline deadline) throws InterruptedException, TimeoutException {
    if (buffer.owner() != this) {
      throw new IllegalArgumentException(
          "the buffer belongs to another connection; copy the message to a buffer of this one");
    }
    state.lock();
    try {
      MemorySlice message = buffer.memory();
      Range.check("length of the message", (int) message.length(), 0, maxBytes());
      state.awaitUsable(
          forCredit, credits::isAvailable, deadline, "the peer had no free buffer to receive into");
      if (!buffer.take()) {
        throw MessageBuffer.notHeld();
      }
      queues.post(
          RequestKind.SEND.id(buffer.slot()),
          request -> request.sendWithImmediate(immediate(MessageHeader.MESSAGE)).from(message));
      credits.spend();
      sending++;
    } finally {
      state.unlock();
    }
  }

  /** Sends a copy of a message, waiting for a buffer and for a credit. */
  void sendCopy(ByteBuffer message, Deadline deadline)
      throws InterruptedException, TimeoutException {
    Range.check(
        "length of the message", message.remaining(), 0, Math.min(maxBytes(), buffers.slotBytes()));
    try (MessageBuffer buffer = takeBuffer(deadline)) {
      buffer.byteBuffer().put(message.duplicate()).flip();
      send(buffer, deadline);
      message.position(message.limit());
    }
  }

  /** Waits for the next message; empty if the peer has closed the connection. */
  Optional<MessageBuffer> receive(Deadline deadline) throws InterruptedException, TimeoutException {
    state.lock();
    try {
      state.await(
          forArrival, () -> !arrived.isEmpty() || state.isEnded(), deadline, "no message arrived");
      state.checkOpen();
      return Optional.ofNullable(arrived.pollFirst());
    } finally {
      state.unlock();
    }
  }

  /** Takes back a buffer that was not sent, or a received one that was read. */
  void giveBack(int slot) {
    state.lock();
    try {
      if (state.isUsable()) {
        recycle(slot);
      }
    } finally {
      state.unlock();
    }
  }

  /** Makes a slot available again, for the next message in its direction. */
  private void recycle(int slot) {
    if (buffers.isReceiveSlot(slot)) {
      queues.postReceive(slot);
      credits.owe();
      returnCredits();
    } else {
      buffers.free(slot);
      forBuffer.wakeOne();
    }
  }

  /** Returns the owed credits to the peer if they are due in a message of their own. */
  void returnCredits() {
    // The last place among the control messages is kept for the end.
    if (credits.isUpdateDue() && controls < ConnectionQueues.CONTROLS - 1 && !state.isEnded()) {
      sendControl(MessageHeader.CREDITS);
    }
  }

  private void sendControl(int kind) {
    queues.post(RequestKind.CONTROL.id(0), request -> request.sendWithImmediate(immediate(kind)));
    controls++;
  }

  /** Returns the immediate value of the next message, which returns all owed credits. */
  private int immediate(int kind) {
    return new MessageHeader(kind, credits.takeOwed()).encode();
  }

  /**
   * Tells the peer that nothing more comes, and waits until everything sent has arrived. Called
   * with the lock, by the thread that closes the connection.
   */
  void end(Duration timeout) {
    try {
      sendControl(MessageHeader.END);
      state.awaitWhileClosing(
          () -> controls + sending == 0,
          Deadline.after(timeout),
          "not all that was sent was acknowledged");
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException | IllegalStateException | RdmaException lost) {
      // The connection is closed in any case.
      System.getLogger("org.rdma4j")
          .log(System.Logger.Level.DEBUG, "could not tell the peer of a close", lost);
    }
  }

  /** Handles the completion of a message that this side sent. */
  void sent(int slot, boolean succeeded) {
    sending--;
    if (succeeded && state.isUsable()) {
      recycle(slot);
    }
  }

  /** Handles the completion of a message of the protocol itself that this side sent. */
  void controlSent() {
    controls--;
  }

  /** Handles the arrival of a message of the given length in a slot. */
  void received(int slot, MessageHeader header, int length) {
    if (!credits.restore(header.credits())) {
      state.breakUp(
          "the peer returned %d credits, of which only %d were outstanding"
              .formatted(header.credits(), credits.outstanding()));
      return;
    }
    for (int i = 0; i < header.credits(); i++) {
      forCredit.wakeOne();
    }
    switch (header.kind()) {
      case MessageHeader.MESSAGE -> {
        arrived.add(new MessageBuffer(this, slot, buffers.memory(slot), length));
        forArrival.wakeOne();
      }
      case MessageHeader.CREDITS -> {
        if (state.isUsable()) {
          queues.postReceive(slot);
        }
      }
      case MessageHeader.END -> state.endedByPeer();
      default -> state.breakUp("the peer sent a message of the unknown kind " + header.kind());
    }
  }
}
