package org.rdma4j.connection.buffers;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Who holds a slot: a user, during one use, or none. It finds out that a user has dropped the
 * buffer without closing it. A use that ends soon costs no reference that the collector has to
 * handle: only a holder that two looks at intervals have found gets a weak one.
 */
public final class Holder {
  /**
   * What is reachable as long as the user can use the slot, or a weak reference to it; null if no
   * user holds the slot.
   */
  private final AtomicReference<@Nullable Object> current = new AtomicReference<>();

  /** What the last look found. Only the thread that looks uses it. */
  private @Nullable Object seen;

  /** Whether the user has got memory of the slot that does not keep the buffer reachable. */
  private volatile boolean lent;

  private static final class Weak extends WeakReference<Object> {
    Weak(Object user) {
      super(user);
    }
  }

  /** Begins a use. No user holds the slot. */
  public void begin(Object user) {
    // A look first, because a write of a volatile field costs a fence for each message.
    if (lent) {
      lent = false;
    }
    current.setRelease(user);
  }

  /** Goes on with a use that {@link #end} has ended, and that no user has noticed. */
  public void resume(Object user) {
    current.setRelease(user);
  }

  /** Returns whether a user holds the slot. */
  boolean isHeld() {
    return current.get() != null;
  }

  public boolean isHeldBy(Object user) {
    return is(current.get(), user);
  }

  private static boolean is(@Nullable Object found, Object user) {
    return found == user || (found instanceof Weak weak && weak.refersTo(user));
  }

  /** Ends the use of this user. Returns false if it had ended. */
  public boolean end(Object user) {
    while (true) {
      Object found = current.get();
      if (!is(found, user)) {
        return false;
      }
      if (current.compareAndSet(found, null)) {
        return true;
      }
    }
  }

  public void lend() {
    lent = true;
  }

  public boolean isLent() {
    return lent;
  }

  /**
   * Looks whether the user has dropped the buffer: then returns true, and the use is over. Called
   * at intervals by one thread.
   */
  public boolean isDropped() {
    Object found = current.get();
    if (found instanceof Weak weak) {
      return weak.refersTo(null) && current.compareAndSet(found, null);
    }
    if (found != null && found == seen) {
      current.compareAndSet(found, new Weak(found));
      found = null;
    }
    seen = found;
    return false;
  }
}
