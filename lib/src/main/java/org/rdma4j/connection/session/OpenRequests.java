package org.rdma4j.connection.session;

import java.util.HashMap;
import java.util.Map;

/** The requests of the peer that have not been answered, and which of them it has cancelled. */
final class OpenRequests {
  private final Map<Long, Boolean> cancelledByNumber = new HashMap<>();

  /** Adds a request that has begun to arrive. */
  void add(long number) {
    cancelledByNumber.put(number, false);
  }

  /** Records that the peer does not wait for an answer any more. It may have crossed the answer. */
  void cancelled(long number) {
    cancelledByNumber.replace(number, true);
  }

  /** Returns whether a request was cancelled, and has not been answered. */
  boolean isCancelled(long number) {
    return cancelledByNumber.getOrDefault(number, false);
  }

  /** Removes a request that is answered or refused. */
  void remove(long number) {
    cancelledByNumber.remove(number);
  }

  int size() {
    return cancelledByNumber.size();
  }
}
