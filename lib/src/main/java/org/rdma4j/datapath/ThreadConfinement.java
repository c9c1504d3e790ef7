package org.rdma4j.datapath;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lets only one thread at a time post to, and poll, queues for which the provider takes no locks:
 * those of a thread domain, or a single-threaded completion queue. A thread that owns a {@link
 * HotCall} of one of them has to give up all that it owns before another thread can own any.
 *
 * <p>Only a thread that becomes an owner comes here, so posts and polls cost no more.
 */
public final class ThreadConfinement {
  private final String name;
  private final List<WeakReference<HotCall>> owned = new ArrayList<>();
  private @Nullable Thread owner;

  /**
   * Creates the confinement of one or several queues.
   *
   * @param name what the queues are called in messages
   */
  public ThreadConfinement(String name) {
    this.name = name;
  }

  /**
   * Records that the current thread owns a call.
   *
   * @throws IllegalStateException if another thread owns a call of these queues
   */
  synchronized void enter(HotCall call) {
    Thread current = Thread.currentThread();
    leave(call);
    if (owned.isEmpty()) {
      owner = current;
    } else if (owner != current && owner != null) {
      throw new IllegalStateException(
          name
              + " belongs to thread \""
              + owner.getName()
              + "\" and was used by \""
              + current.getName()
              + "\", but the provider takes no locks for it; let the owner call release() on each"
              + " object that posts or polls there");
    }
    owned.add(new WeakReference<>(call));
  }

  /** Records that no thread owns a call any more. */
  synchronized void leave(HotCall call) {
    owned.removeIf(each -> each.refersTo(call) || each.refersTo(null));
  }
}
