package org.rdma4j.verbs;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a batch that bind memory windows, until they are posted. A window takes its new
 * binding when the request is built, so this class reports to it whether the request was posted or
 * dropped.
 */
final class PendingBinds {
  private final LongPredicate isPosted;

  /** First the pending binds, in their order, then objects for the next ones. */
  private final List<Bind> binds = new ArrayList<>();

  private int pending;

  /** A bind. It is used again and again, so that a bind allocates nothing. */
  private static final class Bind {
    private long request;
    private @Nullable MemoryWindow window;
    private int key;
    private final WindowBinding before = new WindowBinding();

    /** Forgets the window, so that it can be collected. */
    private void clear() {
      window = null;
      before.set(0, null, null);
    }
  }

  /** Takes whether a request, named by its address, has been posted. */
  PendingBinds(LongPredicate isPosted) {
    this.isPosted = isPosted;
  }

  /** Adds a bind, and returns what is to take the binding that the window had before. */
  WindowBinding add(long request, MemoryWindow window, int key) {
    if (pending == binds.size()) {
      binds.add(new Bind());
    }
    Bind bind = binds.get(pending++);
    bind.request = request;
    bind.window = window;
    bind.key = key;
    return bind.before;
  }

  boolean isEmpty() {
    return pending == 0;
  }

  /** Forgets the binds that have been posted. */
  void settle() {
    int kept = 0;
    for (int i = 0; i < pending; i++) {
      Bind bind = binds.get(i);
      if (isPosted.test(bind.request)) {
        windowOf(bind).settle(bind.key);
        bind.clear();
      } else {
        Collections.swap(binds, kept++, i);
      }
    }
    pending = kept;
  }

  /** Undoes the binds of dropped requests, the last one first. */
  void drop() {
    while (pending > 0) {
      Bind bind = binds.get(--pending);
      windowOf(bind).dropped(bind.key, bind.before);
      bind.clear();
    }
  }

  private static MemoryWindow windowOf(Bind bind) {
    MemoryWindow window = bind.window;
    if (window == null) {
      throw new AssertionError("a pending bind without a window");
    }
    return window;
  }
}
