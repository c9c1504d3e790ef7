package org.rdma4j.verbs;

import org.jspecify.annotations.Nullable;
import org.rdma4j.lifetime.BoundWindows;

/**
 * What a memory window is bound to, and its key. It is changed rather than replaced, so that a bind
 * allocates nothing. The window guards it.
 */
final class WindowBinding {
  /** The key that peers use. */
  int key;

  /** The region that the window is bound to; null for none. */
  MemoryWindow.@Nullable Target target;

  /**
   * The windows that the queue pair has bound; null if the window is not of type 2, or not bound.
   */
  @Nullable BoundWindows ofQueuePair;

  void set(int newKey, MemoryWindow.@Nullable Target region, @Nullable BoundWindows queuePair) {
    key = newKey;
    target = region;
    ofQueuePair = queuePair;
  }

  void set(WindowBinding other) {
    set(other.key, other.target, other.ofQueuePair);
  }

  /** Returns the windows that are bound to the region; null for none. */
  @Nullable BoundWindows ofRegion() {
    return target == null ? null : target.windows();
  }
}
