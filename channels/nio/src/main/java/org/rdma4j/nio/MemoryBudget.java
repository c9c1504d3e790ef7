package org.rdma4j.nio;

import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.rdma4j.connection.NodeConfig;
import org.rdma4j.connection.NodeStatistics;
import org.rdma4j.connection.RdmaConnection;
import org.rdma4j.connection.RdmaNode;

/**
 * The registered memory of all channels of this process: {@code org.rdma4j.nio.maxRegisteredBytes}.
 *
 * <p>Channels are upgraded until a third of it is in use. The rest is for what upgraded channels
 * send and receive later: an eighth for what waits to be sent, seven sixteenths for buffers, and an
 * eighth for long messages that arrive; the rest is for the one long message that each channel may
 * send in any case. So a channel that is upgraded can always go on.
 */
final class MemoryBudget {
  /** The least that leaves enough for some dozens of channels. */
  static final long LEAST = 32L << 20;

  private static final long LEAST_USUAL = 64L << 20;
  private static final long MOST_USUAL = 1L << 30;

  /** The most that the limits of a node allow. */
  static final long MOST = 32L << 30;

  /** The receive of a connection for credits and the like, which the peer has no credits for. */
  private static final int CONTROL_RECEIVES = 1;

  /**
   * A quiet channel has 2 receives, but counts as so many, because it takes more when it is used.
   */
  private static final int LEAST_RECEIVES = 7;

  /** How long a measurement is valid: it asks all connections. */
  private static final long VALID_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final long bytes;

  /** The memory of what waits to be sent, of all channels. */
  private final AtomicLong sending = new AtomicLong();

  /** The memory of what upgraded channels hold to send it again over TCP. It is not registered. */
  private final AtomicLong held = new AtomicLong();

  /** Guarded by this. */
  private long used;

  private long measured;
  private boolean isMeasured;

  MemoryBudget(long bytes) {
    this.bytes = bytes;
  }

  /**
   * Returns the budget of a process without a setting: half of the longest heap, which the JDK
   * derives from the memory of the machine or container, so that rdma4j takes less than the
   * program; and at most as much as thousands of idle channels need.
   */
  static long usual(long maxHeap) {
    return Math.clamp(maxHeap / 2, LEAST_USUAL, MOST_USUAL);
  }

  /** Returns a configuration with the limits for what arrives. */
  NodeConfig limit(NodeConfig config) {
    return config
        .maxBuffers((int) Math.clamp(7 * bytes / 16 / config.bufferBytes(), 64L, 1L << 20))
        .maxLargeBytes(bytes / 8);
  }

  /**
   * Returns whether no further channel may be upgraded.
   *
   * @param upgraded the channels that are upgraded
   */
  synchronized boolean isUsedUp(RdmaNode node, Collection<Upgrade> upgraded) {
    long now = System.nanoTime();
    if (!isMeasured || now - measured >= VALID_NANOS) {
      used = used(node.statistics(), upgraded);
      measured = now;
      isMeasured = true;
    }
    return used > bytes / 3;
  }

  /** Returns how much memory is registered, also for what is not in use. */
  static long registered(NodeStatistics statistics) {
    return (long) statistics.buffers() * Rendezvous.PIECE + statistics.largeBytes();
  }

  /**
   * Receives that were posted for channels which are closed can serve others, and cannot be taken
   * back from the device. So only those count which peers may use.
   */
  private static long used(NodeStatistics statistics, Collection<Upgrade> upgraded) {
    long receives = 0;
    for (Upgrade each : upgraded) {
      RdmaConnection connection = each.stream().connection();
      if (connection.isOpen()) {
        int own = connection.statistics().grantedCredits() + CONTROL_RECEIVES;
        receives += Math.max(LEAST_RECEIVES, own);
      }
    }
    long others = (long) statistics.buffersInUse() - statistics.postedReceives();
    return (others + receives) * Rendezvous.PIECE + statistics.largeBytes();
  }

  /** Gives the reason, for a log. */
  synchronized String whyUsedUp() {
    return "the channels of this process use "
        + used
        + " bytes of registered memory, and new ones are upgraded until a third of org.rdma4j.nio.maxRegisteredBytes is in use, which is "
        + bytes
        + ": raise it to upgrade more";
  }

  /** Records that memory holds what waits to be sent, or, with a negative number, no longer. */
  void sending(long change) {
    sending.addAndGet(change);
  }

  /**
   * Holds more bytes that can be sent again over TCP, unless all channels hold as many as half of
   * the budget.
   *
   * @return whether it holds them
   */
  boolean tryHold(long more) {
    if (held.addAndGet(more) <= bytes / 2) {
      return true;
    }
    held.addAndGet(-more);
    return false;
  }

  /** Records that so many bytes are not held any longer. */
  void holdsNoMore(long fewer) {
    held.addAndGet(-fewer);
  }

  /** Returns the number of bytes that channels hold to send them again over TCP. */
  long held() {
    return held.get();
  }

  /**
   * Returns how much a channel may hold for what waits to be sent: less when others hold much, and
   * always one message, so that it goes on.
   */
  long window() {
    return Math.clamp((bytes / 8 - sending.get()) / 2, Rendezvous.PIECE, RdmaStream.WINDOW);
  }
}
