package org.rdma4j.lifetime;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The memory windows that are bound to a region, or by a queue pair: while there is one, devices
 * refuse to deregister the region.
 */
public final class BoundWindows {
  private final Set<Lifetime> bound = new LinkedHashSet<>();

  /** Bound elsewhere since, by requests of which nobody says that the device has done them. */
  private final Set<Lifetime> leaving = new LinkedHashSet<>();

  public synchronized void add(Lifetime window) {
    bound.removeIf(each -> !each.isOpen());
    leaving.removeIf(each -> !each.isOpen());
    leaving.remove(window);
    bound.add(window);
  }

  public synchronized void leave(Lifetime window) {
    if (bound.remove(window)) {
      leaving.add(window);
    }
  }

  /** Closes the windows that are bound here. */
  public void closeBound() {
    closeAll(bound);
  }

  /** Closes also those that have left; returns whether there were any. */
  public boolean closeLeaving() {
    return closeAll(leaving);
  }

  private boolean closeAll(Set<Lifetime> windows) {
    List<Lifetime> all;
    synchronized (this) {
      all = List.copyOf(windows);
      windows.clear();
    }
    // Not under the lock, since whoever closes a window meanwhile is waited for.
    all.reversed().forEach(Lifetime::close);
    return !all.isEmpty();
  }
}
