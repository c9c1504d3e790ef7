package org.rdma4j.verbs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** The receives it holds, for which each completion queue of its users has entries once. */
final class ReceiveReservations {
  /** Of its own completion queue, where it has one. */
  private final @Nullable Reservations own;

  private final int maxTags;
  private final int maxTagOperations;
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

  /** Promises entries of the queue's own completion queue, where it has one. */
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

  /** Changes the depth where all users have entries for it; the resizer returns the new one. */
  synchronized void change(int wanted, IntSupplier resizer) {
    int before = depth;
    long more = Math.max(0, (long) wanted - before);
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

  /** Promises entries of a completion queue; once for all its users. */
  synchronized void reserve(Reservations capacity) {
    if (!users.containsKey(capacity)) {
      capacity.reserve(depth);
    }
    users.merge(capacity, 1, Integer::sum);
  }

  /** Gives them back after the last user. */
  synchronized void release(Reservations capacity) {
    if (users.merge(capacity, -1, Integer::sum) == 0) {
      users.remove(capacity);
      capacity.release(depth);
    }
  }
}
