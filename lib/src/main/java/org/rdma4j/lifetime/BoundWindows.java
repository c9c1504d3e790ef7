package org.rdma4j.lifetime;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The memory windows that are bound to a memory region, or by a queue pair. Devices refuse to
 * deregister a region while a window is bound to it.
 */
public final class BoundWindows {
  private final Set<Lifetime> bound = new LinkedHashSet<>();

  /**
   * Windows that have been bound elsewhere since; it is not known whether the device has done that
   * yet.
   */
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

  /** Removes a window of which it is known that the device has unbound it. */
  public synchronized void left(Lifetime window) {
    bound.remove(window);
    leaving.remove(window);
  }

  /** Closes the windows that are bound here. */
  public void closeBound() {
    closeAll(bound);
  }

  /** Closes the windows that have been bound elsewhere, and returns whether there were any. */
  public boolean closeLeaving() {
    return closeAll(leaving);
  }

  private boolean closeAll(Set<Lifetime> windows) {
    List<Lifetime> all;
    synchronized (this) {
      all = List.copyOf(windows);
      windows.clear();
    }
    // Not under the lock: this waits for threads that are closing a window, which may need the
    // lock.
    all.reversed().forEach(Lifetime::close);
    return !all.isEmpty();
  }
}
