package org.rdma4j.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * The requests of a batch that bind memory windows, until they are posted. A window takes its new
 * binding when the request is built, so this class reports to it whether the request was posted or
 * dropped.
 */
final class PendingBinds {
  private final LongPredicate isPosted;
  private final List<Bind> binds = new ArrayList<>();

  private record Bind(long request, MemoryWindow window, int key, MemoryWindow.Binding before) {}

  /** Takes whether a request, named by its address, has been posted. */
  PendingBinds(LongPredicate isPosted) {
    this.isPosted = isPosted;
  }

  void add(long request, MemoryWindow window, int key, MemoryWindow.Binding before) {
    binds.add(new Bind(request, window, key, before));
  }

  boolean isEmpty() {
    return binds.isEmpty();
  }

  /** Forgets the binds that have been posted. */
  void settle() {
    binds.removeIf(
        bind -> {
          boolean posted = isPosted.test(bind.request);
          if (posted) {
            bind.window.settle(bind.key);
          }
          return posted;
        });
  }

  /** Undoes the binds of dropped requests, the last one first. */
  void drop() {
    binds.reversed().forEach(bind -> bind.window.dropped(bind.key, bind.before));
    binds.clear();
  }
}
