package org.rdma4j.connection.session;

import org.jspecify.annotations.Nullable;
import org.rdma4j.connection.buffers.Arrivals;
import org.rdma4j.connection.buffers.Buffer;
import org.rdma4j.connection.buffers.BufferPool;
import org.rdma4j.connection.buffers.LargeBuffers;

/**
 * What handlers have sent over one connection, and has not left. While that is more than its share,
 * the peer is granted no credits: it has to receive before it causes further answers. The share is
 * a part of what is free, so that it shrinks when many take theirs, and some is left for others.
 */
final class Answers {
  /** So many can wait, however few buffers are free. */
  private static final int LEAST = 8;

  private static final int SHARE = 4;

  private final int most;
  private final BufferPool pool;
  private final LargeBuffers largeBuffers;
  private final Arrivals arrivals;

  private int count;

  /** How many of them are long. */
  private int longOnes;

  /**
   * Creates the answers of a new connection, which are none.
   *
   * @param receives the number of messages that can cause answers after the share is taken
   */
  Answers(int receives, BufferPool pool, LargeBuffers largeBuffers, Arrivals arrivals) {
    this.most = SHARE * (LEAST + receives);
    this.pool = pool;
    this.largeBuffers = largeBuffers;
    this.arrivals = arrivals;
  }

  /**
   * Adds an answer.
   *
   * @param offered what the peer fetches; null if that is no buffer
   */
  void add(@Nullable Buffer offered) {
    count++;
    if (offered != null && offered.isLong()) {
      longOnes++;
      largeBuffers.countAnswer(arrivals, offered);
    }
  }

  /** Removes an answer that has left, whose buffer is still there. */
  void remove(@Nullable Buffer offered) {
    count--;
    longOnes -= offered != null && offered.isLong() ? 1 : 0;
  }

  /** Returns whether the peer has to receive some of them first. */
  boolean takeShare() {
    return (count >= LEAST && count >= pool.unused() / SHARE)
        || (longOnes > 0 && largeBuffers.isFull(arrivals));
  }

  /** Returns what is wrong if they are more than all others can still have; null if nothing is. */
  @Nullable String check() {
    boolean tooMany = count > most && count > pool.unused();
    if (!tooMany && (longOnes == 0 || !largeBuffers.isExceeded(arrivals))) {
      return null;
    }
    return "the peer has not received %d messages of handlers, more than its share of NodeConfig.%s: send no more from handlers than the peer receives, or raise that"
        .formatted(count, tooMany ? "maxBuffers" : "maxLargeBytes");
  }
}
