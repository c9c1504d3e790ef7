package org.rdma4j.connection.session;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Buffer;

/**
 * A thread that sends one message after the other, and waits for a buffer and for room as a send
 * that blocks does. It sleeps until it is woken, so it finds a wake-up that gets lost.
 */
final class Sender {
  private final End end;
  private final Deque<Integer> lengths = new ArrayDeque<>();
  private @Nullable Buffer buffer;
  private boolean sleeping;
  private boolean woken;

  Sender(End end) {
    this.end = end;
  }

  /** Adds messages to send. */
  void add(int messages, int bytes) {
    for (int i = 0; i < messages && lengths.size() < 200; i++) {
      lengths.addLast(Math.max(4, bytes));
    }
  }

  /** Returns whether it sleeps and no step has woken it yet. */
  boolean isAsleep() {
    return sleeping && !woken;
  }

  /** Wakes it; returns whether it sleeps and no step has woken it yet. */
  boolean wake() {
    boolean wakes = isAsleep();
    woken |= wakes;
    return wakes;
  }

  boolean isIdle() {
    return lengths.isEmpty() && buffer == null;
  }

  /** Goes on as far as it can without waiting; returns whether that is anywhere. */
  boolean step() {
    if (lengths.isEmpty() || (sleeping && !woken)) {
      return false;
    }
    boolean wasAsleep = sleeping;
    sleeping = false;
    woken = false;
    if (!end.user.canSend()) {
      giveUp();
      return true;
    }
    if (buffer == null) {
      buffer = takeBuffer(lengths.getFirst());
      return buffer != null;
    }
    if (!end.session.hasRoomForMessage()) {
      sleep(wasAsleep);
      return true;
    }
    Buffer message = buffer;
    buffer = null;
    end.user.sendFrom(message, lengths.removeFirst());
    end.user.wakeNext();
    return true;
  }

  private void sleep(boolean again) {
    if (!again) {
      end.flush();
    }
    sleeping = !end.session.hasRoomForMessage() && end.user.canSend();
  }

  /** Takes a buffer within the limits of the host; null if it has to wait for one. */
  private @Nullable Buffer takeBuffer(int bytes) {
    if (bytes <= end.host.pool.bufferBytes()) {
      return end.host.pool.tryTake();
    }
    try {
      return end.host.largeBuffers.take(bytes, 0);
    } catch (InterruptedException never) {
      throw new AssertionError(never);
    }
  }

  private void giveUp() {
    lengths.clear();
    if (buffer != null) {
      buffer.free();
      buffer = null;
    }
    end.user.wakeNext();
  }

  @Override
  public String toString() {
    return lengths.size() + (buffer == null ? "" : " with a buffer") + (sleeping ? " asleep" : "");
  }
}
