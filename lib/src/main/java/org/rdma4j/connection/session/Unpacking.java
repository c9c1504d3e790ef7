package org.rdma4j.connection.session;

import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.BufferPool;
import org.rdma4j.connection.buffers.ReceiveWindow;
import org.rdma4j.connection.wire.Credits;

/**
 * Gives messages that have arrived together to users that may hold them: each in a buffer of its
 * own, which counts against the receive window as well. The last one keeps the buffer in which they
 * have arrived.
 */
final class Unpacking {
  private final BufferPool pool;
  private final Credits credits;
  private final ReceiveWindow window;
  private final Answers answers;

  /** Whether no buffer was free. */
  private boolean lacksBuffer;

  private boolean lackUnreported;

  /**
   * Whether a message waits for a buffer, for a buffer that its user holds, or for answers to
   * leave.
   */
  private boolean waits;

  Unpacking(BufferPool pool, Credits credits, ReceiveWindow window, Answers answers) {
    this.pool = pool;
    this.credits = credits;
    this.window = window;
    this.answers = answers;
  }

  /**
   * Returns whether a message can be delivered now. While answers take their share, the peer gets
   * no credits, so messages that took none of their own wait as well. Without the lock, this may be
   * out of date.
   */
  boolean mayDeliver(Buffer message) {
    boolean may = !message.follows() || !answers.takeShare();
    waits |= !may;
    return may;
  }

  /** Returns whether a user can hold a message now; if not, the message waits. */
  boolean mayTake(Buffer message) {
    boolean may = !message.hasNext() || (!lacksBuffer && credits.mayCopy());
    waits |= !may;
    return may && mayDeliver(message);
  }

  /**
   * Takes the next message for a user who may hold it; null if there is none, or it has to wait.
   */
  @Nullable Buffer take(Inbox inbox) {
    Buffer next = inbox.peek();
    if (next == null || !mayTake(next)) {
      return null;
    }
    if (!next.hasNext()) {
      next.toFront();
      return inbox.poll();
    }
    Buffer copy = pool.tryTakeForCopy();
    if (copy == null) {
      lacksBuffer = true;
      lackUnreported = true;
      waits = true;
      return null;
    }
    copy.copy(next);
    copy.enter(window);
    credits.copied();
    next.toNext();
    return copy;
  }

  /** Returns once whether no buffer was free, so that {@link #freed} has to be called. */
  boolean takeLack() {
    boolean was = lackUnreported;
    lackUnreported = false;
    return was;
  }

  /** Records that a buffer may be free. */
  void freed() {
    lacksBuffer = false;
  }

  /** Returns once whether a message waits that may be taken now. */
  boolean takeWaiting(Inbox inbox) {
    Buffer next = waits ? inbox.peek() : null;
    boolean goesOn = next != null && mayTake(next);
    waits &= !goesOn;
    return goesOn;
  }
}
