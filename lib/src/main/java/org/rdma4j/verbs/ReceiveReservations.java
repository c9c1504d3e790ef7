package org.rdma4j.verbs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The entries that are reserved for the receives of a shared receive queue, once in each completion
 * queue of its queue pairs.
 */
final class ReceiveReservations {
  /**
   * The reservations of the completion queue of the shared receive queue itself; null if it has
   * none.
   */
  private final @Nullable Reservations own;

  private final int maxTags;
  private final int maxTagOperations;

  /** The number of queue pairs that use each completion queue. */
  private final Map<Reservations, Integer> users = new HashMap<>();

  private int depth;
  private boolean ownReserved;

  ReceiveReservations(SharedReceiveQueueConfig config) {
    CompletionQueue completions = config.completions();
    this.own = completions == null ? null : completions.reservations();
    this.maxTags = config.maxTags();
    this.maxTagOperations = config.maxTagOperations();
  }

  synchronized int depth() {
    return depth;
  }

  int maxTagOperations() {
    return maxTagOperations;
  }

  /** Reserves entries of the shared receive queue's own completion queue, if it has one. */
  synchronized void reserveOwn(int granted) {
    depth = granted;
    if (own == null) {
      return;
    }
    own.reserve(ofTags());
    try {
      reserve(own);
    } catch (IllegalArgumentException tooMany) {
      own.release(ofTags());
      throw tooMany;
    }
    ownReserved = true;
  }

  synchronized void releaseOwn() {
    if (own != null && ownReserved) {
      release(own);
      own.release(ofTags());
    }
  }

  private long ofTags() {
    return (long) maxTags + maxTagOperations;
  }

  /**
   * Changes the depth, unless a completion queue is too short; the resizer returns the new depth.
   */
  synchronized void change(int requested, IntSupplier resizer) {
    int before = depth;
    long more = Math.max(0, (long) requested - before);
    List<Reservations> reserved = new ArrayList<>();
    try {
      for (Reservations capacity : users.keySet()) {
        capacity.reserve(more);
        reserved.add(capacity);
      }
      depth = resizer.getAsInt();
    } finally {
      long unused = before + more - depth;
      reserved.forEach(capacity -> capacity.release(unused));
    }
  }

  /** Reserves entries of a completion queue, once for all queue pairs that use it. */
  synchronized void reserve(Reservations capacity) {
    if (!users.containsKey(capacity)) {
      capacity.reserve(depth);
    }
    users.merge(capacity, 1, Integer::sum);
  }

  /** Releases the entries of a completion queue when the last queue pair that uses it is closed. */
  synchronized void release(Reservations capacity) {
    if (users.merge(capacity, -1, Integer::sum) == 0) {
      users.remove(capacity);
      capacity.release(depth);
    }
  }
}
