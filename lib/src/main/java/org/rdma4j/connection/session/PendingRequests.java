package org.rdma4j.connection.session;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The requests to the peer that have not been answered, each with the listener of its answer. */
final class PendingRequests {
  private final Map<Long, Object> byNumber = new HashMap<>();
  private long next = 1;

  /** Adds a request, and returns its number. */
  long add(Object listener) {
    byNumber.put(next, listener);
    return next++;
  }

  /** Removes a request; null if none with this number waits for an answer. */
  @Nullable Object remove(long number) {
    return byNumber.remove(number);
  }

  /** Returns whether a request waits for its answer. */
  boolean contains(long number) {
    return byNumber.containsKey(number);
  }

  /** Removes all requests. */
  List<Object> removeAll() {
    List<Object> all = new ArrayList<>(byNumber.values());
    byNumber.clear();
    return all;
  }

  /** Returns the number of requests that wait for their answers. */
  int size() {
    return byNumber.size();
  }
}
