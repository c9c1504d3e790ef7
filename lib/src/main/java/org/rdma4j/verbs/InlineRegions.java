package org.rdma4j.verbs;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.rdma4j.datapath.HotCall;
import org.rdma4j.datapath.Referent;

/**
 * The memory regions whose bytes the requests of a batch send inline. The provider reads these
 * bytes during the post, so the memory must stay until the post has returned: a region that is
 * closed waits for that.
 */
final class InlineRegions {
  private final HotCall posts;
  private final Set<MemoryRegion> regions = new HashSet<>();

  /**
   * What says whether they are open: in a list, because a loop over a set allocates an iterator.
   */
  private final List<Referent> referents = new ArrayList<>();

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
                referents.add(region.referent());
                return regions.add(region);
              });
    }
  }

  boolean areOpen() {
    for (int i = 0; i < referents.size(); i++) {
      if (referents.get(i).isGone()) {
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
    referents.removeIf(Referent::isGone);
  }
}
