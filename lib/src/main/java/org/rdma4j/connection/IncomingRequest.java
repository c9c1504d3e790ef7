package org.rdma4j.connection;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rdma4j.ConnectionException;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.wire.MessageKind;

/**
 * A request of the peer, to be answered or refused once, by any thread. The request occupies a
 * place of its sender's until its message is closed, or sent as the answer. A request that a
 * program drops is refused some time after that, with a warning in the log.
 */
public final class IncomingRequest {
  private final Link link;
  private final long number;
  private final MessageBuffer message;
  private final AtomicBoolean answered = new AtomicBoolean();

  IncomingRequest(Link link, long number, MessageBuffer message) {
    this.link = link;
    this.number = number;
    this.message = message;
  }

  long number() {
    return number;
  }

  /** Returns whether it was answered or refused, for objects that must not keep the request. */
  AtomicBoolean answered() {
    return answered;
  }

  /**
   * Returns what the peer asks. The caller may fill this buffer with the answer.
   *
   * @return the message, to be closed, or sent as the answer
   */
  public MessageBuffer message() {
    return message;
  }

  /**
   * Returns whether the peer no longer waits for the answer: its program has cancelled the future
   * of the request, or {@link java.util.concurrent.CompletableFuture#orTimeout} has ended it. A
   * handler that takes long may ask from time to time, and {@linkplain #refuse refuse} the request
   * then, which must be answered or refused all the same. The peer reports it as soon as it can
   * send a message, so this may be false although it has given up.
   *
   * @return whether it was cancelled; false if it was answered, or the connection has ended
   */
  public boolean isCancelled() {
    return !answered.get() && link.sends().isCancelled(number);
  }

  /**
   * Answers with a buffer that the caller holds, and gives it up. If the answer is in another
   * buffer than {@link #message}, closes that one. Does not wait: if the peer has no room, the
   * answer is sent later. If this throws, the caller still holds both buffers, and the request can
   * still be answered or refused.
   *
   * @param answer a buffer of the same node
   * @throws IllegalArgumentException if the answer is longer than the peer receives, or the buffer
   *     belongs to another node
   * @throws IllegalStateException if the request was answered, the connection is closed, or the
   *     buffer was closed or sent
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void answer(MessageBuffer answer) {
    answer(MessageKind.ANSWER, answer);
  }

  /**
   * Answers with a copy of bytes, and closes {@link #message}. Does not wait: if the peer has no
   * room, the answer is sent later.
   *
   * @param answer the bytes from the position to the limit, which becomes the position
   * @throws IllegalArgumentException if the answer is longer than the peer receives
   * @throws IllegalStateException if the request was answered, or the connection is closed
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void answer(ByteBuffer answer) {
    MessageBuffer buffer = new MessageBuffer(link.sends().newBuffer(answer.remaining()));
    boolean done = false;
    try {
      buffer.byteBuffer().put(answer.duplicate()).flip();
      answer(buffer);
      answer.position(answer.limit());
      done = true;
    } finally {
      if (!done) {
        buffer.close();
      }
    }
  }

  /**
   * Refuses the request, and closes {@link #message}. The future of the peer ends with the reason.
   *
   * @param reason the reason, which may be cut off
   * @throws IllegalStateException if the request was answered, or the connection is closed
   * @throws ConnectionException if the connection is broken, or the peer has closed it
   */
  public void refuse(String reason) {
    MessageBuffer buffer = refusal(link, reason);
    boolean done = false;
    try {
      answer(MessageKind.REFUSAL, buffer);
      done = true;
    } finally {
      if (!done) {
        buffer.close();
      }
    }
  }

  private static MessageBuffer refusal(Link link, String reason) {
    byte[] bytes = reason.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(bytes.length, link.sends().shortBytes());
    MessageBuffer buffer = new MessageBuffer(link.sends().newBuffer(length));
    buffer.byteBuffer().put(Arrays.copyOf(bytes, length)).flip();
    return buffer;
  }

  /** Refuses a request that no code can answer any more, unless the connection has ended. */
  static void refuse(Link link, long number, String reason) {
    try (MessageBuffer buffer = refusal(link, reason)) {
      link.sends().answer(MessageKind.REFUSAL, number, buffer);
    } catch (IllegalStateException | RdmaException ended) {
      // Then the peer learns of the end of the connection instead.
    }
  }

  /** Refuses the request unless it was answered or the connection has ended. */
  void refuseIfUnanswered(String reason) {
    try {
      if (!answered.get()) {
        refuse(reason);
      }
    } catch (IllegalStateException | RdmaException ended) {
      // Then the peer learns of the end of the connection instead.
      message.close();
    }
  }

  private void answer(MessageKind kind, MessageBuffer buffer) {
    if (!answered.compareAndSet(false, true)) {
      throw new IllegalStateException("the request has been answered");
    }
    boolean done = false;
    try {
      link.sends().answer(kind, number, buffer);
      done = true;
    } finally {
      answered.set(done);
    }
    if (buffer != message) {
      message.close();
    }
  }
}
