package org.rdma4j.connection;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one connection that have not been answered.
 *
 * <p>Not safe for use by several threads: the lock of the connection guards it.
 */
final class PendingRequests {
  private final Map<Long, CompletableFuture<MessageBuffer>> byNumber = new HashMap<>();
  private long next = 1;

  /** Adds a request, and returns its number. */
  long add(CompletableFuture<MessageBuffer> answer) {
    byNumber.put(next, answer);
    return next++;
  }

  /** Removes a request; null if none with this number waits for an answer. */
  @Nullable CompletableFuture<MessageBuffer> remove(long number) {
    return byNumber.remove(number);
  }

  /** Removes all requests. */
  List<CompletableFuture<MessageBuffer>> removeAll() {
    List<CompletableFuture<MessageBuffer>> all = new ArrayList<>(byNumber.values());
    byNumber.clear();
    return all;
  }

  /** Returns the number of requests that wait for their answers. */
  int size() {
    return byNumber.size();
  }
}
