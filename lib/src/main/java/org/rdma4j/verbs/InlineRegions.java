package org.rdma4j.verbs;

import java.util.HashSet;
import java.util.Set;
import org.rdma4j.datapath.HotCall;

/**
 * The memory regions whose bytes the requests of a batch send inline. The provider reads these
 * bytes during the post, so the memory must stay until the post has returned: a region that is
 * closed waits for that.
 */
final class InlineRegions {
  private final HotCall posts;
  private final Set<MemoryRegion> regions = new HashSet<>();

  InlineRegions(HotCall posts) {
    this.posts = posts;
  }

  void add(MemoryRegion region) {
    if (!regions.contains(region)) {
      // Throws if this process cannot access the memory.
      region.segment();
      region
          .lifetime()
          .whileOpen(
              () -> {
                region.referent().addWatcher(posts);
                return regions.add(region);
              });
    }
  }

  boolean areOpen() {
    for (MemoryRegion region : regions) {
      if (region.referent().isGone()) {
        return false;
      }
    }
    return true;
  }

  /** Throws IllegalStateException if bytes with this key and address belong to no open region. */
  void check(int key, long address, int length) {
    for (MemoryRegion region : regions) {
      if (!region.referent().isGone() && region.has(key, address, length, true)) {
        return;
      }
    }
    throw new IllegalStateException(
        "the memory region of a request's inline bytes is closed; call clear() to drop the"
            + " requests");
  }

  void dropClosed() {
    regions.removeIf(region -> region.referent().isGone());
  }
}
