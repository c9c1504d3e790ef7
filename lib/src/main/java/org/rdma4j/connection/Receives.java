package org.rdma4j.connection;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rdma4j.RdmaException;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.session.Session;
import org.rdma4j.connection.wire.MessageKind;
import org.rdma4j.platform.Deadline;

/**
 * The messages of one connection that its user takes, rather than having them delivered to a
 * handler.
 *
 * <p>Unless it says otherwise, a method may be called from any thread, without the lock of the
 * connection.
 */
final class Receives {
  private final Link link;
  private final Session session;
  private final Awaited messageOrEnd;

  Receives(Link link, Session session) {
    this.link = link;
    this.session = session;
    this.messageOrEnd = link.waits().until(session::hasMessageOrEnd);
  }

  /** Wakes a thread that waits, if there is a message for it. Requires the lock. */
  void wakeNext() {
    messageOrEnd.wakeNext();
  }

  /** Wakes all threads that wait. Requires the lock. */
  void wakeAll() {
    messageOrEnd.wakeAll();
  }

  /** Takes the next message, or waits for it; null if the peer sends nothing more. */
  @Nullable MessageBuffer receive(Duration timeout) throws InterruptedException, TimeoutException {
    long end = Deadline.after(timeout).end();
    link.lock();
    try {
      Buffer next;
      do {
        await(end, timeout);
        next = session.pollMessage();
        // It may be there and lack a buffer of its own, for which this waits again.
      } while (next == null && session.peekMessage() != null);
      return next == null ? null : new MessageBuffer(next);
    } finally {
      link.unlock();
    }
  }

  /**
   * Copies the next message, or waits for it, and gives its buffer back. If that fails, the message
   * is still the next one.
   *
   * @return whether there was one; if not, the peer sends nothing more
   */
  boolean receive(ByteBuffer target, Duration timeout)
      throws InterruptedException, TimeoutException {
    long end = Deadline.after(timeout).end();
    Buffer next;
    link.lock();
    try {
      await(end, timeout);
      next = peekIfFits(target.remaining());
      if (next != null && next.hasNext()) {
        next.copyTo(target);
        next.toNext();
        return true;
      }
      next = session.pollMessage();
    } finally {
      link.unlock();
    }
    if (next == null) {
      return false;
    }
    boolean copied = false;
    try {
      next.copyTo(target);
      copied = true;
    } finally {
      if (!copied) {
        putBack(next);
      }
    }
    next.free();
    return true;
  }

  /** Returns the next message, which must not be longer; null if there is none. */
  private @Nullable Buffer peekIfFits(int bytes) {
    Buffer next = session.peekMessage();
    if (next != null && next.kind() == MessageKind.NOTICE) {
      throw new IllegalStateException(
          "%s: the next message is the notice %d, which has no bytes to copy: receive it with receive(timeout)"
              .formatted(link, next.number()));
    }
    if (next != null && next.length() > bytes) {
      throw new IllegalArgumentException(
          "the buffer has room for %d bytes, but the next message has %d: receive it into a longer one"
              .formatted(bytes, next.length()));
    }
    return next;
  }

  private void putBack(Buffer message) {
    if (!putBackIfOpen(message)) {
      // No thread receives it any more, and its memory may have been freed already.
      message.free();
    }
  }

  private boolean putBackIfOpen(Buffer message) {
    link.lock();
    try {
      if (session.lifecycle().isClosing()) {
        return false;
      }
      session.putBack(message);
      return true;
    } finally {
      link.unlock();
    }
  }

  /** Waits until there is a message, or nothing more to come. Requires the lock. */
  private void await(long end, Duration timeout) throws InterruptedException, TimeoutException {
    session.lifecycle().checkOpen();
    link.waits().checkAllowed();
    if (session.wantsMessages()) {
      throw new IllegalStateException(
          link + " has a handler of messages, which receives all of them");
    }
    if (!link.waits().await(messageOrEnd, end)) {
      throw link.waits().timedOut("no message arrived", timeout);
    }
    session.lifecycle().checkOpen();
    RdmaException failure = session.lifecycle().failure();
    if (failure != null && session.peekMessage() == null && !session.lifecycle().isInputEnded()) {
      throw failure;
    }
  }

  /** Records that a message no longer counts against the receive window: see {@link Buffer}. */
  void left(Buffer buffer) {
    link.lock();
    try {
      leftHere(buffer);
      flushIfDue();
    } finally {
      link.unlock();
    }
  }

  /** Does what {@link #left} does, and leaves the posting to the caller. Requires the lock. */
  void leftHere(Buffer buffer) {
    if (session.left(buffer)) {
      link.later(link.telling()::tell);
    }
  }

  /** Gives back messages of this connection that were told. Requires the lock. */
  void free(Buffer[] told, int count) {
    for (int i = 0; i < count; i++) {
      Buffer message = told[i];
      if (message.leaveWindow() != null) {
        leftHere(message);
      }
      message.free();
    }
    flushIfDue();
  }

  private void flushIfDue() {
    if (session.lifecycle().goesOn() && (session.isCreditDue() || session.outstanding() > 0)) {
      link.flush();
    }
  }
}
